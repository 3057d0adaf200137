/** The control server: loopback HTTP for tests and local tools, closed without its token. */
import { createServer } from "node:http";
import { timingSafeEqual } from "node:crypto";

const HEADER = "x-control-token";

/** A request that asks for something impossible: answered 400 with the text. */
export class BadRequest extends Error {}

/**
 * @param {{token: string, port?: number, routes: Record<string, (asked: any) => Promise<unknown>>}} settings
 *   routes: "METHOD /path" to a function of the query or the JSON body
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function startControl({ token, port = 0, routes }) {
  const server = createServer((request, response) => {
    answer(request, token, routes).then(
      ([status, body]) => send(response, status, body),
      (error) =>
        send(response, error instanceof BadRequest ? 400 : 500, {
          error: error.message,
        }),
    );
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => close(server),
  };
}

function close(server) {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}

async function answer(request, token, routes) {
  if (!isToken(request.headers[HEADER], token))
    return [401, { error: `${HEADER} is not right` }];
  const url = new URL(request.url, "http://control/");
  const route = routes[`${request.method} ${url.pathname}`];
  if (!route) return [404, { error: "no such route" }];
  const asked =
    request.method === "GET"
      ? Object.fromEntries(url.searchParams)
      : await body(request);
  return [200, (await route(asked)) ?? null];
}

function isToken(given, token) {
  const [left, right] = [Buffer.from(String(given)), Buffer.from(token)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function body(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new BadRequest("the body is not JSON");
  }
}

function send(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
