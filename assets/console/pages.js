// @ts-check
/** The one table of pages: where each is, who may see it, and what shows it. */

import { isOperator, mayWrite } from "./session.js";

/** @typedef {import("./session.js").Caller} Caller */
/** `:name` in a pattern takes any segment. A page with a `label` stands in the menu; its view is
 * loaded when it is first opened and gets `{params, query}`.
 * @typedef {{pattern: string, label?: string, allowed: (caller: Caller) => boolean,
 *   load: () => Promise<{default: import("preact").FunctionComponent<ViewProps>}>}} Page */
/** @typedef {{params: Record<string, string>, query: URLSearchParams}} ViewProps */

const anyone = () => true;

/** In the order of the menu. @type {Page[]} */
export const PAGES = [
  { pattern: "jobs", label: "jobs", allowed: anyone, load: () => import("./views/jobs.js") },
  { pattern: "schedules", label: "schedules", allowed: anyone, load: () => import("./views/schedules.js") },
  // No schedule is named so: names begin with a letter or a digit.
  { pattern: "schedules/-", allowed: mayWrite, load: () => import("./views/schedule_form.js") },
  { pattern: "schedules/:name", allowed: anyone, load: () => import("./views/schedule.js") },
  { pattern: "schedules/:name/edit", allowed: mayWrite, load: () => import("./views/schedule_form.js") },
  { pattern: "audit", label: "audit", allowed: anyone, load: () => import("./views/audit.js") },
  { pattern: "doctor", label: "doctor", allowed: isOperator, load: () => import("./views/doctor.js") },
];

/** Where a caller without an address begins. @param {Caller} caller */
export const home = (caller) => (isOperator(caller) ? ["overview"] : mayWrite(caller) ? ["submit"] : ["jobs"]);

/**
 * @param {string[]} path
 * @returns {{page: Page, params: Record<string, string>} | null}
 */
export function findPage(path) {
  for (const page of PAGES) {
    const params = match(page.pattern.split("/"), path);
    if (params) return { page, params };
  }
  return null;
}

/** @param {string[]} pattern @param {string[]} path @returns {Record<string, string> | null} */
function match(pattern, path) {
  if (pattern.length !== path.length) return null;
  /** @type {Record<string, string>} */
  const params = {};
  for (const [at, wanted] of pattern.entries()) {
    const found = path[at] ?? "";
    if (wanted.startsWith(":")) params[wanted.slice(1)] = found;
    else if (wanted !== found) return null;
  }
  return params;
}
