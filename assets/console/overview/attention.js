// @ts-check
/**
 * What needs a person, out of the figures and the alerts, and why nobody can say that nothing does.
 * Functions of their arguments: what they find is put into words elsewhere.
 */

import { placeOf } from "../parts/measure.js";
import { href } from "../router.js";

/** `now`: it fires; `soon`: it is above its limit; `later`: in working hours.
 * @typedef {"now" | "soon" | "later"} Level */
/** `name` is that of a sentence. `firing`: since when its alert does.
 * @typedef {{level: Level, name: string, of: string, value: number | null, limit: number | null, before: number | null,
 *   subject: string | null, firing: string | null, to: string}} Need */
/** @typedef {{name: "rollup_never" | "rollup_old" | "conditions_none" | "conditions_old" | "backlog_unknown" | "alerts_old", seconds: number}} Doubt */

/** The sweep looks each minute; so long without it, and what it found says little of now. */
const STALE_SECONDS = 300;
const OVERDUE_SECONDS = 300;
/** Both are asked for every few seconds. */
const APART_SECONDS = 120;
/** An attempt on the queue is cut off long before; a run on a Workflow may take that long. */
const LONG_RUN_SECONDS = 3600;
const DEAD_LETTER_QUEUE = "uketsuke-jobs-dlq";
const LEVELS = /** @type {Level[]} */ (["now", "soon", "later"]);
const ORDER = [
  "untold",
  "sweep_lag_seconds",
  "oldest_due_seconds",
  "lanes_denied",
  "dead_letters_growth",
  "failed_per_mille",
  "dead_letters_expiring",
  "dlq_oldest_seconds",
  "outbox_lag_seconds",
  "spend_today_cents",
  "budget_used_percent",
  "oldest_waiting_seconds",
  "dead_letters_past_triage",
  "dead_letters_open",
];

/** What the answer tells as of this moment, where a condition is a minute old.
 * @type {Record<string, (metrics: any) => number | null>} */
const FRESH = {
  dead_letters_open: (metrics) => metrics.dead_letters.open,
  dead_letters_past_triage: (metrics) => metrics.dead_letters.past_triage,
  dead_letters_expiring: (metrics) => metrics.dead_letters.expiring,
  dead_letters_growth: (metrics) => metrics.dead_letters.last_hour,
  oldest_waiting_seconds: (metrics) => (metrics.backlog ? (metrics.oldest_waiting_seconds ?? 0) : null),
  oldest_due_seconds: (metrics) => (metrics.backlog ? (metrics.oldest_due_seconds ?? 0) : null),
  sweep_lag_seconds: (metrics) => metrics.sweep_lag_seconds,
};

/** What needs somebody, the most pressing first.
 * @param {any} metrics  `GET /v1/metrics` @param {any[]} alerts  the items of `GET /v1/alerts` @returns {Need[]} */
export function needsOf(metrics, alerts) {
  const conditions = new Map(metrics.conditions.map((/** @type {any} */ each) => [each.name, each]));
  const told = new Map(alerts.map((each) => [each.name, each]));
  const found = [...new Set([...conditions.keys(), ...told.keys()])]
    .map((name) => needOf(name, conditions.get(name), told.get(name), metrics))
    .filter((need) => need !== null);
  return [...found, ...untoldOf(alerts), ...unwatchedOf(metrics)].sort(bySeverity);
}

/** @param {Need} one @param {Need} other */
function bySeverity(one, other) {
  return LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level) || place(one) - place(other);
}

/** @param {Need} need */
const place = (need) => (ORDER.includes(need.of) ? ORDER.indexOf(need.of) : ORDER.length);

/** @param {string} name @param {any} condition @param {any} alert @param {any} metrics @returns {Need | null} */
function needOf(name, condition, alert, metrics) {
  const value = FRESH[name]?.(metrics) ?? condition?.value ?? alert?.value ?? null;
  const limit = alert?.limit ?? condition?.limit ?? null;
  const above = value !== null && limit !== null && value > limit;
  const firing = alert?.state === "firing";
  const level = firing ? "now" : above ? (name === "dead_letters_open" ? "later" : "soon") : null;
  if (level === null) return null;
  const subject = condition?.subject ?? alert?.subject ?? null;
  return {
    level,
    name: above ? name : value === null ? "firing_unknown" : "firing_within",
    of: name,
    value,
    limit,
    before: condition?.compared_to ?? null,
    subject,
    firing: firing ? alert.fired_at : null,
    to: whereTo(name, subject, metrics),
  };
}

/** @param {string} name @param {string | null} subject @param {any} metrics */
function whereTo(name, subject, metrics) {
  if (name === "oldest_waiting_seconds") return jobOr(metrics.oldest_waiting_job_id, "accepted");
  return placeOf(name, { subject, now: metrics.at });
}

/** The page of a job that is named, or else the list that it is in. @param {string | null} id @param {string} state */
export const jobOr = (id, state) => (id ? href(["jobs", id]) : href(["jobs"], { state }));

/** Alerts that nobody has heard of, though they were sent. @param {any[]} alerts @returns {Need[]} */
function untoldOf(alerts) {
  const untold = alerts.filter(({ delivery }) => delivery.pending && delivery.error_class);
  if (!untold.length) return [];
  return [
    extra({
      level: "now",
      name: "untold",
      value: untold.length,
      subject: untold[0].delivery.error_class,
      to: href(["alerts"]),
    }),
  ];
}

/** Figures that no condition watches. @param {any} metrics @returns {Need[]} */
function unwatchedOf(metrics) {
  const [overdue, running] = [metrics.outbox_lag_seconds, metrics.oldest_running_seconds];
  const dead = metrics.queues[DEAD_LETTER_QUEUE]?.backlog ?? 0;
  /** @type {Need[]} */
  const found = [];
  if (overdue > OVERDUE_SECONDS)
    found.push(extra({ level: "soon", name: "outbox_lag_seconds", value: overdue, to: href(["doctor"]) }));
  if (running > LONG_RUN_SECONDS) {
    const to = jobOr(metrics.oldest_running_job_id, "running");
    found.push(extra({ level: "later", name: "oldest_running_seconds", value: running, to }));
  }
  if (dead > 0)
    found.push(
      extra({ level: "later", name: "dead_queue", value: dead, to: href(["dead-letters"], { status: "open" }) }),
    );
  return found;
}

/** @param {{level: Level, name: string, value: number, to: string, subject?: string}} need @returns {Need} */
const extra = ({ level, name, value, to, subject = "" }) => {
  return { level, name, of: name, value, limit: null, before: null, subject, firing: null, to };
};

/** Why these figures cannot show that nothing is wrong: they are old, or were never there.
 * @param {any} metrics @param {any} alerts  `GET /v1/alerts`, or nothing yet @returns {Doubt[]} */
export function doubtsOf(metrics, alerts) {
  /** @type {Doubt[]} */
  const doubts = [];
  const age = (/** @type {string} */ time) => (Date.parse(metrics.at) - Date.parse(time)) / 1000;
  const rolled = metrics.rolled_at === null ? null : age(metrics.rolled_at);
  if (rolled === null) doubts.push({ name: "rollup_never", seconds: 0 });
  else if (rolled > STALE_SECONDS) doubts.push({ name: "rollup_old", seconds: rolled });
  const reckoned = Math.min(...metrics.conditions.map((/** @type {any} */ each) => age(each.computed_at)));
  if (reckoned === Infinity) doubts.push({ name: "conditions_none", seconds: 0 });
  else if (reckoned > STALE_SECONDS) doubts.push({ name: "conditions_old", seconds: reckoned });
  if (metrics.backlog === null) doubts.push({ name: "backlog_unknown", seconds: 0 });
  const apart = alerts ? age(alerts.at) : 0;
  if (apart > APART_SECONDS) doubts.push({ name: "alerts_old", seconds: apart });
  return doubts;
}
