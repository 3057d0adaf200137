// @ts-check
/** Fetches a result: once, for it never changes, and only so far as its reader wants it. */

import { ApiError, open, unreachable } from "../api.js";

/** Vectors come as bare floats, a third of their JSON; all else comes as it is. */
const ACCEPT = "application/octet-stream, application/json;q=0.9, */*;q=0.1";
export const FLOATS = "application/octet-stream";

/** @typedef {{model: string, dimensions: number, floats: Float32Array}} Vectors */
/** What a result is; `other` has a media type that nothing here shows.
 * @typedef {{vectors: Vectors} | {body: any} | {other: string}} Content */
/** `large`: its bytes where they are known before, and nothing was read. @typedef {{content: Content} | {large: number | null}} Loaded */

/**
 * Read a result, unless it has more than `most` bytes.
 * @param {string} path @param {{most: number, signal: AbortSignal}} options @returns {Promise<Loaded>}
 */
export async function load(path, { most, signal }) {
  const response = await open(path, { headers: { Accept: ACCEPT }, signal });
  const told = Number(response.headers.get("Content-Length") ?? NaN);
  if (told > most) {
    await response.body?.cancel();
    return { large: told };
  }
  try {
    const bytes = await read(response, most);
    return bytes ? { content: contentOf(response.headers, bytes) } : { large: null };
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    throw unreachable(); // it broke off
  }
}

/** All of it, or null if it is more than `most`. @param {Response} response @param {number} most */
async function read(response, most) {
  const reader = response.body?.getReader();
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const pieces = [];
  let bytes = 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    bytes += next.value.length;
    if (bytes > most) {
      await reader?.cancel();
      return null;
    }
    pieces.push(next.value);
  }
  return new Blob(pieces).arrayBuffer();
}

/** @param {Headers} headers @param {ArrayBuffer} bytes @returns {Content} */
function contentOf(headers, bytes) {
  const type = (headers.get("Content-Type") ?? "").split(";")[0]?.trim() ?? "";
  const dimensions = Number(headers.get("X-Dimensions"));
  if (type === FLOATS && dimensions > 0)
    return { vectors: { model: decoded(headers.get("X-Model") ?? ""), dimensions, floats: new Float32Array(bytes) } };
  return /[/+]json$/.test(type) ? inJson(JSON.parse(new TextDecoder().decode(bytes))) : { other: type };
}

/** Vectors may come as JSON too. @param {any} body @returns {Content} */
function inJson(body) {
  const { model, dimensions, vectors } = body ?? {};
  if (!Array.isArray(vectors) || !(dimensions > 0)) return { body };
  return { vectors: { model: String(model), dimensions, floats: Float32Array.from(vectors.flat()) } };
}

/** @param {string} name */
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
