// @ts-check
/** What an id names, and where that is shown. */

import { useCaller } from "../caller.js";
import { html } from "../html.js";
import { href } from "../router.js";
import { isOperator } from "../session.js";
import { Id } from "./id.js";

/**
 * The page of what an id names, if there is one that the caller may see. Tenants have none of dead
 * letters; a letter bears its job's name, so they are led to the job.
 * @param {string} id @param {import("../session.js").Caller} caller @returns {string | undefined}
 */
export function placeOf(id, caller) {
  const [, prefix, name] = /^(job|dl|rd)_([0-9a-z]{26})$/.exec(id) ?? [];
  if (!prefix || !name) return undefined;
  if (prefix === "job") return href(["jobs", id]);
  if (isOperator(caller)) return href([prefix === "dl" ? "dead-letters" : "redrives", id]);
  return prefix === "dl" ? href(["jobs", `job_${name}`]) : undefined;
}

/** An id of whatever sort, linked if it leads somewhere. Other names are shown whole.
 * @param {{id: string}} props */
export function Named({ id }) {
  const to = placeOf(id, useCaller());
  return html`<${Id} id=${id} to=${to} whole=${!to} />`;
}

/** Several of them. @param {{ids: string[]}} props */
export const Ids = ({ ids }) =>
  html`<ul class="id-list">
    ${ids.map((id) => html`<li key=${id}><${Named} id=${id} /></li>`)}
  </ul>`;
