// @ts-check
/** The time, as often as somebody looks. */

import { useEffect, useState } from "preact/hooks";

import { serverNow } from "../clock.js";

/** Now by the server, in milliseconds, renewed while the component is shown. @param {number} [every] seconds */
export function useNow(every = 1) {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = window.setInterval(() => !document.hidden && setNow(serverNow()), every * 1000);
    return () => window.clearInterval(timer);
  }, [every]);
  return now;
}
