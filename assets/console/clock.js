// @ts-check
/** What time it is by the server's clock: its times are told beside ours, and a reader's clock may be wrong. */

/** `Date` tells whole seconds, and an answer is on its way for a while: less is no difference. */
const LEAST_MS = 5000;

let ahead = 0; // of the reader's clock, in milliseconds

/** Learn from an answer. @param {string | null} date  its header `Date`; an answer may have none */
export function learnTime(date) {
  const told = Date.parse(date ?? "");
  if (Number.isNaN(told)) return;
  const found = told - Date.now();
  ahead = Math.abs(found) < LEAST_MS ? 0 : found;
}

/** Now, in milliseconds. */
export const serverNow = () => Date.now() + ahead;
