// @ts-check
/** A document that is looked at when somebody asks for it, and not again by itself. */

import { useEffect, useState } from "preact/hooks";

import { ApiError, get } from "../api.js";
import { serverNow } from "../clock.js";

/** `at` is when `data` came; what was known stays while the next look is under way, or fails.
 * @typedef {{data: any, error: ApiError | null, at: string | null, busy: boolean}} Seen */

/** @param {string} path  the same for as long as the component is shown
 * @param {{atOnce?: boolean}} [options]  whether the first look is made unasked */
export function useLook(path, { atOnce = true } = {}) {
  const [seen, setSeen] = useState(/** @type {Seen} */ ({ data: undefined, error: null, at: null, busy: atOnce }));
  const ask = async (/** @type {AbortSignal} */ signal) => {
    setSeen((known) => ({ ...known, busy: true }));
    try {
      const { body } = await get(path, { signal });
      setSeen({ data: body, error: null, at: new Date(serverNow()).toISOString(), busy: false });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      setSeen((known) => ({ ...known, error, busy: false }));
    }
  };
  const [left] = useState(() => new AbortController());
  useEffect(() => {
    if (atOnce) ask(left.signal);
    return () => left.abort();
  }, []);
  const look = () => ask(left.signal);
  // Out of what is known then: meanwhile there may have been another look, or another change.
  const know = (/** @type {(data: any) => any} */ change) =>
    setSeen((known) => ({ ...known, data: change(known.data) }));
  return { ...seen, look, know };
}
