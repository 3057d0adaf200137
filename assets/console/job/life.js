// @ts-check
/** A job's events as the stretches of time that people ask about: waits, attempts, the end. */

/** @typedef {{type: string, at: string, attempt: number | null, class: string | null, code: string | null,
 *   message: string | null, duration_ms: number | null, provider_ms: number | null, provider: string | null,
 *   model: string | null, provider_request_id: string | null, cost_usd: string | null}} Happening */

/** A stretch without `to` goes on. `ending` is how an attempt ended, or the attempt after which one waits.
 * @typedef {{what: "accepted" | "wait" | "attempt" | "wished" | "end", from: string, to?: string,
 *   number?: number | null, ending?: Happening}} Stretch */

/** A wait that nobody would notice is not told. */
const SHORTEST_WAIT_MS = 1000;

/**
 * Tell a job's life, oldest first.
 * @param {any} job
 * @param {Happening[]} happenings  as the API gives them, oldest first
 * @returns {Stretch[]}
 */
export function lifeOf(job, happenings) {
  /** @type {Stretch[]} */
  const life = [];
  let since = job.created_at;
  /** @type {Happening | undefined} */
  let after;
  const waited = (/** @type {string} */ to) => {
    if (Date.parse(to) - Date.parse(since) >= SHORTEST_WAIT_MS)
      life.push({ what: "wait", from: since, to, ending: after });
  };
  for (const happening of happenings) {
    const last = life.at(-1);
    const open = last?.what === "attempt" && last.to === undefined ? last : null;
    if (happening.type === "accepted") life.push({ what: "accepted", from: happening.at });
    else if (happening.type === "leased") {
      waited(happening.at);
      life.push({ what: "attempt", from: happening.at, number: happening.attempt });
    } else {
      if (open) Object.assign(open, { to: happening.at, ending: happening });
      else waited(happening.at);
      after = happening;
    }
    since = happening.at;
  }
  return withWish(job, [...life, ...rest(job, life, since, after)]);
}

/** What comes after the last event. @param {any} job @param {Stretch[]} life @param {string} since
 * @param {Happening | undefined} after @returns {Stretch[]} */
function rest(job, life, since, after) {
  if (job.terminal) return [{ what: "end", from: job.finished_at ?? since }];
  const last = life.at(-1);
  if (last?.what === "attempt" && last.to === undefined) return [];
  return [{ what: "wait", from: since, ending: after }];
}

/** A wish to cancel stands where it was made. @param {any} job @param {Stretch[]} life @returns {Stretch[]} */
function withWish(job, life) {
  const wished = job.cancel_requested_at;
  if (!wished) return life;
  const later = life.findIndex(({ what, from }) => what === "end" || Date.parse(from) > Date.parse(wished));
  const at = later < 0 ? life.length : later;
  return [...life.slice(0, at), { what: "wished", from: wished }, ...life.slice(at)];
}
