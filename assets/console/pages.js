// @ts-check
/** The one table of pages: where each is, who may see it, and what shows it. */

import { isOperator, mayRead, mayWrite } from "./session.js";

/** @typedef {import("./session.js").Caller} Caller */
/** `:name` in a pattern takes any segment. A page with a `label` stands in the menu; its view is
 * loaded when it is first opened and gets `{params, query}`; its module says which `parameters` of the
 * address it heeds. `refusal` says who is allowed, where it is not the operators.
 * @typedef {{pattern: string, label?: string, allowed: (caller: Caller) => boolean,
 *   refusal?: "no_read" | "no_write", load: () => Promise<View>}} Page */
/** @typedef {{default: import("preact").FunctionComponent<ViewProps>, parameters?: readonly string[]}} View */
/** @typedef {{params: Record<string, string>, query: URLSearchParams}} ViewProps */

const forReaders = /** @type {const} */ ({ allowed: mayRead, refusal: "no_read" });
/** What is edited is read first. @param {Caller} caller */
const mayEdit = (caller) => mayRead(caller) && mayWrite(caller);

/** In the order of the menu. @type {Page[]} */
export const PAGES = [
  { pattern: "overview", label: "overview", allowed: isOperator, load: () => import("./views/overview.js") },
  {
    pattern: "submit",
    label: "submit",
    allowed: mayWrite,
    refusal: "no_write",
    load: () => import("./views/submit.js"),
  },
  { pattern: "jobs", label: "jobs", ...forReaders, load: () => import("./views/jobs.js") },
  { pattern: "jobs/:id", ...forReaders, load: () => import("./views/job.js") },
  {
    pattern: "dead-letters",
    label: "dead_letters",
    allowed: isOperator,
    load: () => import("./views/letter_groups.js"),
  },
  { pattern: "dead-letters/list", allowed: isOperator, load: () => import("./views/letters.js") },
  { pattern: "dead-letters/:id", allowed: isOperator, load: () => import("./views/letter.js") },
  { pattern: "redrives", label: "redrives", allowed: isOperator, load: () => import("./views/redrives.js") },
  { pattern: "redrives/new", allowed: isOperator, load: () => import("./views/new_redrive.js") },
  { pattern: "redrives/:id", allowed: isOperator, load: () => import("./views/redrive.js") },
  { pattern: "schedules", label: "schedules", ...forReaders, load: () => import("./views/schedules.js") },
  // No schedule is named so: names begin with a letter or a digit.
  { pattern: "schedules/-", allowed: mayEdit, refusal: "no_write", load: () => import("./views/schedule_form.js") },
  { pattern: "schedules/:name", ...forReaders, load: () => import("./views/schedule.js") },
  {
    pattern: "schedules/:name/edit",
    allowed: mayEdit,
    refusal: "no_write",
    load: () => import("./views/schedule_form.js"),
  },
  { pattern: "audit", label: "audit", ...forReaders, load: () => import("./views/audit.js") },
  { pattern: "usage", label: "usage", ...forReaders, load: () => import("./views/usage.js") },
  { pattern: "alerts", label: "alerts", allowed: isOperator, load: () => import("./views/alerts.js") },
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
