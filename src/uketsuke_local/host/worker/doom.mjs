/** Orders that the isolate dies at a call it makes: so tests meet work that kills whoever does it. */
let orders = [];
let end = () => {};

/** @param {(reason: string) => void} how what ends the isolate */
export function onDoom(how) {
  end = how;
}

/**
 * The next `count` calls with these headers are fatal. A `traceparent` matches by its trace: each call has a
 * span of its own.
 * @param {{match: Record<string, string>, count?: number}} order
 */
export function orderDoom({ match, count = 1 }) {
  orders.push({ match: Object.entries(match), left: count });
}

/** Whether a call, as `fetch` is given it, was ordered to be fatal. That spends one of the order's. */
export function isFatal(resource, init) {
  if (orders.length === 0) return false;
  const headers = new Headers(init?.headers ?? resource?.headers);
  const order = orders.find(({ match }) =>
    match.every(
      ([name, value]) =>
        counting(name, headers.get(name)) === counting(name, value),
    ),
  );
  if (!order) return false;
  order.left -= 1;
  orders = orders.filter(({ left }) => left > 0);
  return true;
}

/** What counts of a header. */
function counting(name, value) {
  const isTrace = name.toLowerCase() === "traceparent" && value !== null;
  return isTrace ? value.split("-").slice(0, 2).join("-") : value;
}

/** Let the isolate die once the code that calls has waited for its answer; none comes. */
export function dieAtCall() {
  queueMicrotask(() => end("The isolate was destroyed at a call, by order."));
  return new Promise(() => {});
}
