// @ts-check
/** One member of the request, as its schema wants it. */

import { useContext } from "preact/hooks";

import { html } from "../html.js";
import { Speech, useNames, useWords } from "../words.js";
import { choices, fields, hints } from "../words/params.js";
import { submit } from "../words/submit.js";
import { controlOf, useFaults } from "./faults.js";

/** @typedef {import("./kinds.js").Field} FieldOf */

/** @param {{field: FieldOf, value: string, change: (value: string) => void}} props */
export function Field({ field, value, change }) {
  const name = useNames(fields);
  const id = controlOf(field.pointer);
  const hint = useHint(field);
  const { told, shown } = useFaults(field.pointer, hint ? `${id}-hint` : undefined);
  return html`<div class="field">
    <label for=${id}>${name(field.name)}</label>
    <${Control} id=${id} field=${field} value=${value} change=${change} told=${told} />
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`} ${shown}
  </div>`;
}

/** @param {{id: string, field: FieldOf, value: string, change: (value: string) => void, told: object}} props */
function Control({ id, field, value, change, told }) {
  const { name, schema } = field;
  const choice = useNames(choices);
  const preset = usePreset(schema);
  const take = (/** @type {any} */ event) => change(event.currentTarget.value);
  const shared = { id, value, onInput: take, ...told };
  if (!optionsOf(schema))
    return html`<input
      ...${shared}
      placeholder=${preset}
      inputmode=${isNumber(schema) ? "decimal" : undefined}
      autocomplete="off"
      spellcheck=${false}
    />`;
  const shownAs = (/** @type {string} */ one) => labelled(choice(`${name}:${one}`), `${name}:${one}`, one);
  return html`<select ...${shared}>
    ${!optionsOf(schema)?.includes(String(schema.default)) && html`<option value="">${preset}</option>`}
    ${optionsOf(schema)?.map(
      (one) => html`<option key=${one} value=${one === String(schema.default) ? "" : one}>${shownAs(one)}</option>`,
    )}
  </select>`;
}

/** @param {string} said @param {string} asked @param {string} one */
const labelled = (said, asked, one) => (said === asked ? one : said);

/** @param {any} schema @returns {string[] | null} */
function optionsOf(schema) {
  const all = schema.enum?.map(String) ?? (schema.type === "boolean" ? ["false", "true"] : null);
  const isPreset = (/** @type {string} */ one) => one === String(schema.default);
  return all && [...all.filter(isPreset), ...all.filter((/** @type {string} */ one) => !isPreset(one))];
}

/** @param {any} schema */
const isNumber = (schema) => schema.type === "integer" || schema.type === "number";

/** What holds where nothing is typed. @param {any} schema */
function usePreset(schema) {
  const t = useWords(submit);
  if (schema.default != null) return t("default_is", { value: String(schema.default) });
  return schema.default === null ? "" : t("unset");
}

/** The limits, and what is to be known. @param {FieldOf} field */
function useHint({ name, schema }) {
  const t = useWords(submit);
  const language = useContext(Speech);
  const { minimum: least, maximum: most, maxLength: count, description } = schema;
  const about = Object.hasOwn(hints[language], name)
    ? hints[language][/** @type {keyof typeof hints.en} */ (name)]
    : null;
  const range = least != null && most != null ? t("range", { least, most }) : null;
  const longest = count != null && !schema.pattern ? t("longest", { count }) : null;
  return [range, longest, about ?? description].filter(Boolean).join(language === "ja" ? "。" : ". ");
}
