// @ts-check
/** A patch over what a job was asked with: a field for what is changed often, JSON for the rest. */

import { useContext, useId } from "preact/hooks";

import { duration } from "../format.js";
import { html } from "../html.js";
import { Speech, useWords } from "../words.js";
import { letters } from "../words/letters.js";

const MOST_ATTEMPTS = 20;
const LONGEST_DEADLINE = 604_800;
const USD = /^(?=[0-9.]*[1-9])(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$/;

/** As typed. @typedef {{max_attempts: string, deadline_seconds: string, max_cost_usd: string, rest: string}} Fields */
/** @typedef {keyof typeof letters.en} Word */
/** What is wrong with a field: the word that says so, and a member that it is about.
 * @typedef {{field: keyof Fields, word: Word, name?: string}} Wrong */

/** @type {Fields} */
export const NO_PATCH = { max_attempts: "", deadline_seconds: "", max_cost_usd: "", rest: "" };

/**
 * The patch that the fields make, null if none, and what is wrong with them. Everything else is the
 * API's to check: it knows the job.
 * @param {Fields} fields
 * @returns {{patch: Record<string, unknown> | null, wrong: Wrong[]}}
 */
export function readPatch(fields) {
  /** @type {Wrong[]} */
  const wrong = [];
  /** @type {Record<string, unknown>} */
  const patch = Object.create(null); // a member may have any name, also one that every object knows
  const take = (
    /** @type {keyof Fields} */ field,
    /** @type {boolean} */ sound,
    /** @type {unknown} */ value,
    /** @type {Word} */ word,
  ) => {
    if (fields[field].trim() === "") return;
    if (sound) patch[field] = value;
    else wrong.push({ field, word });
  };
  const [attempts, deadline] = [whole(fields.max_attempts), whole(fields.deadline_seconds)];
  take("max_attempts", attempts >= 1 && attempts <= MOST_ATTEMPTS, attempts, "bad_attempts");
  take("deadline_seconds", deadline >= 1 && deadline <= LONGEST_DEADLINE, deadline, "bad_deadline");
  take("max_cost_usd", USD.test(fields.max_cost_usd.trim()), fields.max_cost_usd.trim(), "bad_cost");
  const { rest, word } = readRest(fields.rest);
  if (word) wrong.push({ field: "rest", word });
  for (const [name, value] of Object.entries(rest)) {
    if (Object.hasOwn(patch, name)) wrong.push({ field: "rest", word: "twice", name });
    else patch[name] = value;
  }
  return { patch: Object.keys(patch).length > 0 ? patch : null, wrong };
}

/** @param {string} text @returns {{rest: Record<string, unknown>, word?: Word}} */
function readRest(text) {
  if (text.trim() === "") return { rest: {} };
  try {
    const rest = JSON.parse(text);
    const isObject = typeof rest === "object" && rest !== null && !Array.isArray(rest);
    return isObject ? { rest } : { rest: {}, word: "bad_patch" };
  } catch {
    return { rest: {}, word: "bad_json" };
  }
}

/** @param {string} text */
const whole = (text) => (/^\d{1,7}$/.test(text.trim()) ? Number(text) : NaN);

/** @param {{fields: Fields, change: (fields: Fields) => void, wrong: Wrong[], open: boolean}} props */
export function PatchFields({ fields, change, wrong, open }) {
  const t = useWords(letters);
  const language = useContext(Speech);
  const deadline = whole(fields.deadline_seconds);
  const span = deadline > 0 ? ` (${t("deadline_is", { time: duration(deadline, language) })})` : "";
  const field = (/** @type {keyof Fields} */ name) => ({ name, fields, change, wrong });
  return html`<details class="patch" open=${open}>
    <summary>${t("patch")}</summary>
    <div class="stack">
      <p class="hint">${t("patch_unseen")}</p>
      <${Field} ...${field("max_attempts")} label=${t("max_attempts")} hint=${t("max_attempts_hint")} />
      <${Field} ...${field("deadline_seconds")} label=${t("deadline")} hint=${t("deadline_hint") + span} />
      <${Field} ...${field("max_cost_usd")} label=${t("max_cost")} hint=${t("max_cost_hint")} />
      <${Field} ...${field("rest")} label=${t("rest")} hint=${t("rest_hint")} />
    </div>
  </details>`;
}

/** @param {{name: keyof Fields, fields: Fields, change: (fields: Fields) => void, wrong: Wrong[], label: string, hint: string}} props */
function Field({ name, fields, change, wrong, label, hint }) {
  const t = useWords(letters);
  const id = useId();
  const fault = wrong.find(({ field }) => field === name);
  const same = {
    id,
    value: fields[name],
    spellcheck: false,
    autocomplete: "off",
    "aria-describedby": `${id}-hint`,
    "aria-invalid": fault ? "true" : undefined,
    onInput: (/** @type {any} */ event) => change({ ...fields, [name]: event.currentTarget.value }),
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${name === "rest" ? html`<textarea class="json" rows="3" ...${same}></textarea>` : html`<input inputmode="decimal" ...${same} />`}
    <p id=${`${id}-hint`} class=${fault ? "refusal" : "hint"} aria-live="polite">
      ${fault ? t(fault.word, { name: fault.name ?? "" }) : hint}
    </p>
  </div>`;
}
