// @ts-check
/** A schedule as it is written in the form, and back. */

import { ownZone } from "../format.js";

/** @typedef {import("./document.js").Schedule} Schedule */
/** @typedef {import("./document.js").Wanted} Wanted */
/** @typedef {import("../api.js").Fault} Fault */
/** `form` is the input's, as the API has four; `input` and `params` are as they are written.
 * @typedef {{name: string, cron: string, timezone: string, kind: string, form: Form, input: string,
 *   params: string, overlap: string, run_key: string, enabled: boolean}} Draft */
/** @typedef {"text" | "texts" | "ref" | "refs"} Form */

export const FORMS = /** @type {const} */ (["text", "texts", "ref", "refs"]);
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** @returns {Draft} */
export const blank = () => ({
  name: "",
  cron: "",
  timezone: ownZone(),
  kind: "summarize",
  form: "text",
  input: "",
  params: "{}",
  overlap: "skip",
  run_key: "",
  enabled: true,
});

/** @param {Schedule} schedule @returns {Draft} */
export function draftOf({ name, cron, timezone, kind, input, params, overlap, run_key, enabled }) {
  const form = FORMS.find((each) => input?.[each] !== undefined) ?? "text";
  return {
    name,
    cron,
    timezone,
    kind,
    form,
    input: written(form, input?.[form] ?? ""),
    params: JSON.stringify(params, null, 2),
    overlap,
    run_key: run_key === usualRunKey(name) ? "" : (run_key ?? ""),
    enabled,
  };
}

/** The run key that a schedule's jobs have if none is given. @param {string} name */
export const usualRunKey = (name) => `schedule:${name}`;

/** @param {Form} form @param {any} value */
function written(form, value) {
  if (form === "texts") return JSON.stringify(value, null, 2);
  return form === "refs" ? value.join("\n") : value;
}

/** What is found wrong here, by the name of its words. */
const OWN = /** @type {const} */ (["bad_name", "bad_list", "bad_object"]);

/** @param {string} code @returns {code is typeof OWN[number]} */
export const isOwn = (code) => OWN.some((own) => own === code);

/**
 * What the draft asks for, and what is wrong with it before anybody is asked.
 * @param {Draft} draft
 * @returns {{wanted: Wanted, faults: Fault[]}}
 */
export function readDraft(draft) {
  /** @type {Fault[]} */
  const faults = [];
  const fault = (/** @type {string} */ pointer, /** @type {typeof OWN[number]} */ code) =>
    faults.push({ pointer, code, detail: "" });
  if (!NAME.test(draft.name)) fault("/name", "bad_name");
  const { cron, timezone, kind, overlap, enabled } = draft;
  const params = parsed(draft.params.trim() || "{}");
  if (params === null || typeof params !== "object" || Array.isArray(params)) fault("/params", "bad_object");
  const value = inputOf(draft);
  if (draft.form === "texts" && !Array.isArray(value)) fault("/input", "bad_list");
  const run_key = overlap === "allow" ? null : draft.run_key || usualRunKey(draft.name);
  const wanted = { cron, timezone, kind, input: { [draft.form]: value }, params, run_key, overlap, enabled };
  return { wanted, faults };
}

/** @param {Draft} draft */
function inputOf({ form, input }) {
  if (form === "texts") return parsed(input);
  if (form === "ref") return input.trim();
  return form === "refs" ? input.split(/\s+/).filter(Boolean) : input;
}

/** @param {string} text @returns {any} undefined if that is no JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
