// @ts-check
/** What the conditions measure: in which unit each is told, and where one sees to it. */

import { count, duration, money, percent } from "../format.js";
import { href } from "../router.js";

/** @typedef {import("../session.js").Language} Language */

/** A condition's value or limit, in the unit that the end of its name tells.
 * @param {string} name @param {number | null | undefined} value @param {Language} language */
export function measure(name, value, language) {
  if (value == null) return "–";
  if (name.endsWith("_seconds")) return duration(value, language);
  if (name.endsWith("_per_mille")) return percent(value / 1000, language);
  if (name.endsWith("_percent")) return percent(value / 100, language);
  if (name.endsWith("_cents")) return money((value / 100).toFixed(2));
  return count(value, language);
}

const LETTERS = href(["dead-letters"], { status: "open" });
/** Jobs that wait: their time has come, or not. */
export const DUE = href(["jobs"], { due: "true" });
export const NOT_DUE = href(["jobs"], { due: "false" });
export const PAST_TRIAGE = href(["dead-letters", "list"], { past_triage: "true" });
export const EXPIRING = href(["dead-letters", "list"], { expiring: "true" });

/** @type {Record<string, (about: {subject: string | null, today: string}) => string>} */
const PLACES = {
  dead_letters_open: () => LETTERS,
  dead_letters_past_triage: () => PAST_TRIAGE,
  dead_letters_expiring: () => EXPIRING,
  dead_letters_growth: () => LETTERS,
  dlq_oldest_seconds: () => href(["doctor"]),
  oldest_waiting_seconds: () => href(["jobs"], { state: "accepted" }),
  oldest_due_seconds: () => DUE,
  failed_per_mille: () => LETTERS,
  budget_used_percent: ({ subject, today }) => href(["usage"], { tenant: subject, from: today, to: today }),
  spend_today_cents: ({ today }) => href(["usage"], { from: today, to: today }),
  sweep_lag_seconds: () => href(["doctor"]),
  lanes_denied: () => href(["dead-letters"], { status: "open", class: "denied" }),
};

/** The page on which one sees to a condition; a condition that nobody knows leads to the alerts.
 * @param {string} name @param {{subject: string | null, now: string}} about  `now`: RFC 3339 */
export function placeOf(name, { subject, now }) {
  return PLACES[name]?.({ subject, today: now.slice(0, 10) }) ?? href(["alerts"]);
}
