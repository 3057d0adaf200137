// @ts-check
/**
 * Live by polite polling. The server's `Retry-After` is a floor; what does not change is asked for
 * less and less often; a hidden page asks for nothing; failures back off and keep what was known.
 */

import { useCallback, useEffect, useReducer, useRef } from "preact/hooks";

import { ApiError, get } from "./api.js";
import { serverNow } from "./clock.js";

const SLOWEST_SECONDS = 60;
const USUAL_SECONDS = 3;
const GROWTH = 1.5;
/** A browser's timer that is set for more than some weeks goes off at once. */
const LONGEST_SECONDS = 24 * 3600;

/**
 * What is known of a path. `data` is always of *this* path: that of another is never shown under it.
 * `at` is when the server last confirmed it; `error` is set while it cannot, and `data` may be older.
 * @typedef {{data: any, error: ApiError | null, at: number | null, refresh: () => void}} Polled
 */

/** @typedef {{path: string | null, data: any, tag: string | null, error: ApiError | null, at: number | null, unchanged: number}} Known */

/**
 * How long to wait until the next look.
 * @param {{every: number, slowest?: number, unchanged: number, failures: number, retryAfter: number | null}} after
 * @returns {number} seconds
 */
export function pause({ every, slowest = SLOWEST_SECONDS, unchanged, failures, retryAfter }) {
  const grown = every * GROWTH ** (failures || unchanged);
  const most = failures ? SLOWEST_SECONDS : Math.max(slowest, every);
  return Math.max(Math.min(grown, most), Math.min(retryAfter ?? 0, LONGEST_SECONDS));
}

/**
 * Follow a document of the API for as long as the component is shown.
 * @param {string | null} path  null asks for nothing
 * @param {{every?: number, slowest?: number, until?: (data: any) => boolean}} [options]  `every`: seconds
 *   between two looks while things change, 0 for one look alone; `slowest`: while nothing does;
 *   `until` says that nothing will any more
 * @returns {Polled}
 */
export function usePolled(path, { every = USUAL_SECONDS, slowest, until } = {}) {
  const known = useRef(/** @type {Known} */ (nothing(path)));
  const [, redraw] = useReducer((/** @type {number} */ n) => n + 1, 0);
  const again = useRef(() => {});
  const ended = useRef(until);
  ended.current = until;
  if (known.current.path !== path) known.current = nothing(path);

  useEffect(() => {
    if (path === null) return undefined;
    return follow({
      path,
      every,
      slowest,
      read: () => known.current,
      write: (next) => {
        known.current = next;
        redraw(0);
      },
      ends: (data) => ended.current?.(data) ?? false,
      expose: (refresh) => {
        again.current = refresh;
      },
    });
  }, [path, every, slowest]);

  const refresh = useCallback(() => again.current(), []);
  const { data, error, at } = known.current;
  return { data, error, at, refresh };
}

/** @param {string | null} path @returns {Known} */
const nothing = (path) => ({ path, data: undefined, tag: null, error: null, at: null, unchanged: 0 });

/**
 * @param {{path: string, every: number, slowest?: number, read: () => Known, write: (next: Known) => void,
 *   ends: (data: any) => boolean, expose: (refresh: () => void) => void}} options
 * @returns {() => void} stops
 */
function follow({ path, every, slowest, read, write, ends, expose }) {
  /** @type {AbortController | null} */
  let asking = null;
  /** @type {number | undefined} */
  let timer;
  let failures = 0;
  let due = false; // its time came while the page was hidden

  const plan = (/** @type {number | null} */ retryAfter) => {
    const { data, unchanged } = read();
    if (every === 0 && failures === 0) return;
    if (failures === 0 && data !== undefined && ends(data)) return;
    const seconds = pause({ every: every || USUAL_SECONDS, slowest, unchanged, failures, retryAfter });
    timer = window.setTimeout(look, seconds * 1000);
  };

  const look = async () => {
    window.clearTimeout(timer);
    due = document.hidden;
    if (due) return;
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    let retryAfter = null;
    try {
      const answer = await get(path, { signal: mine.signal, tag: read().tag });
      if (mine.signal.aborted) return;
      failures = 0;
      retryAfter = answer.retryAfter;
      write(learned(read(), answer));
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      failures += 1;
      retryAfter = error.retryAfter;
      write({ ...read(), error });
      if (isFinal(error)) return;
    }
    plan(retryAfter);
  };

  const shown = () => {
    if (!document.hidden && due) look();
  };
  document.addEventListener("visibilitychange", shown);
  expose(() => {
    write({ ...read(), unchanged: 0 });
    look();
  });
  look();
  return () => {
    asking?.abort();
    window.clearTimeout(timer);
    document.removeEventListener("visibilitychange", shown);
  };
}

/** @param {Known} known @param {import("./api.js").Answer} answer @returns {Known} */
function learned(known, answer) {
  const confirmed = { ...known, error: null, at: serverNow() };
  if (answer.status === 304) return { ...confirmed, unchanged: known.unchanged + 1 };
  return { ...confirmed, data: answer.body, tag: answer.tag, unchanged: 0 };
}

/** Asking again cannot help: it is the question that is wrong. @param {ApiError} error */
function isFinal(error) {
  return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429;
}
