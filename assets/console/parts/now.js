// @ts-check
/** The time, as often as somebody looks. */

import { useEffect, useState } from "preact/hooks";

/** Now, in milliseconds, renewed while the component is shown. @param {number} [every] seconds */
export function useNow(every = 1) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => !document.hidden && setNow(Date.now()), every * 1000);
    return () => window.clearInterval(timer);
  }, [every]);
  return now;
}
