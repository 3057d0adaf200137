// @ts-check
/** A schedule as the API keeps it: read, and put whole. */

import { ApiError, get, pathWith, put, segment } from "../api.js";

/** @typedef {{name: string, tenant_id: string, cron: string, timezone: string, kind: string,
 *   input: Record<string, any> | null, params: Record<string, any> | null, run_key: string | null,
 *   overlap: string, enabled: boolean, next_at: string | null,
 *   last: {at: string, job_id: string | null, outcome: string} | null,
 *   created_at: string, updated_at: string}} Schedule */
/** What is put; the rest is the API's to say.
 * @typedef {Pick<Schedule, "cron" | "timezone" | "kind" | "input" | "params" | "run_key" | "overlap" | "enabled">} Wanted */

/** Names are a tenant's own, so an operator says whose. @param {string} name @param {string | null} [tenant] */
export const schedulePath = (name, tenant) => pathWith(`/v1/schedules/${segment(name)}`, { tenant });

/** @param {Schedule} schedule @returns {Wanted} */
export const wantedOf = ({ cron, timezone, kind, input, params, run_key, overlap, enabled }) => ({
  cron,
  timezone,
  kind,
  input,
  params,
  run_key,
  overlap,
  enabled,
});

/** Which members of two documents differ. @param {Wanted} one @param {Wanted} other @returns {string[]} */
export function differing(one, other) {
  const members = /** @type {(keyof Wanted)[]} */ (Object.keys(one));
  return members.filter((member) => JSON.stringify(one[member]) !== JSON.stringify(other[member]));
}

/** As it is now, or null if there is none. @param {string} name @returns {Promise<Schedule | null>} */
export async function readSchedule(name) {
  try {
    return (await get(schedulePath(name))).body;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Turn it on or off, and leave all else as it is by now: whoever changed it meanwhile meant that.
 * @param {string} name @param {boolean} enabled */
export async function switchSchedule(name, enabled) {
  const { body } = await get(schedulePath(name));
  return put(schedulePath(name), { ...wantedOf(body), enabled });
}
