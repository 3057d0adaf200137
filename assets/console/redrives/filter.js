// @ts-check
/** Which dead letters a bulk redrive means: in the URL, as the API wants it, and in words. */

import { useContext } from "preact/hooks";

import { fullTime } from "../format.js";
import { html } from "../html.js";
import { Speech, useNames, useWords } from "../words.js";
import { classes, kinds } from "../words/names.js";
import { redrives } from "../words/redrives.js";

export const FILTERS = /** @type {const} */ (["class", "kind", "fingerprint", "tenant", "before"]);

/** What is not given is any. @param {URLSearchParams} query @returns {Record<string, string>} */
export function filterIn(query) {
  /** @type {Record<string, string>} */
  const filter = {};
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value) filter[name] = value;
  }
  return filter;
}

/** @param {{filter: Record<string, string | null>}} props */
export function FilterWords({ filter }) {
  const t = useWords(redrives);
  const language = useContext(Speech);
  const [errorClass, kind] = [useNames(classes), useNames(kinds)];
  const given = FILTERS.filter((name) => filter[name]);
  if (given.length === 0) return html`<b>${t("everything")}</b>`;
  const shown = (/** @type {string} */ name, /** @type {string} */ value) => {
    if (name === "class") return errorClass(value);
    if (name === "kind") return kind(value);
    if (name === "before") return fullTime(value, language);
    return html`<code>${value}</code>`;
  };
  return html`<ul class="filter-words">
    ${given.map((name) => html`<li key=${name}>${t(name)}: ${shown(name, filter[name] ?? "")}</li>`)}
  </ul>`;
}
