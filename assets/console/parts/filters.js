// @ts-check
/** Filters of a list. They live in the URL, so that a view can be shared, reloaded and gone back to. */

import { useId } from "preact/hooks";

import { html } from "../html.js";
import { setQuery } from "../router.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";
import { Typed } from "./typed.js";

/** @param {{names: string[], query: URLSearchParams, children?: any}} props  `names`: the parameters that are filters */
export function Filters({ names, query, children }) {
  const t = useWords(shell);
  const clear = () => setQuery(Object.fromEntries(names.map((name) => [name, null])));
  return html`<div class="filters" role="group" aria-label=${t("filters")}>
    ${children}
    ${names.some((name) => query.has(name)) && html`<button class="quiet" onClick=${clear}>${t("clear")}</button>`}
  </div>`;
}

/** A value that is none of the options is shown as it is: a link may hold what nobody foresaw.
 * @param {{label: string, name: string, query: URLSearchParams, options: [string, string][], none?: string}} props
 *   options: [value, label]; `none`: what it means that nothing is chosen */
export function Choice({ label, name, query, options, none }) {
  const t = useWords(shell);
  const id = useId();
  const chosen = query.get(name) ?? "";
  const known = chosen === "" || options.some(([value]) => value === chosen);
  const change = (/** @type {any} */ event) => setQuery({ [name]: event.currentTarget.value || null });
  return html`<div class="filter">
    <label for=${id}>${label}</label>
    <select id=${id} value=${chosen} onChange=${change}>
      <option value="">${none ?? t("all")}</option>
      ${!known && html`<option value=${chosen}>${chosen}</option>`}
      ${options.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
    </select>
  </div>`;
}

/** @param {{label: string, name: string, query: URLSearchParams, hint?: string, type?: "text" | "date"}} props */
export function Text({ label, name, query, hint, type = "text" }) {
  const id = useId();
  const take = (/** @type {string} */ text) => setQuery({ [name]: text.trim() || null });
  return html`<div class="filter">
    <label for=${id}>${label}</label>
    <${Typed}
      id=${id}
      type=${type}
      value=${query.get(name) ?? ""}
      take=${take}
      placeholder=${hint}
      autocomplete="off"
    />
  </div>`;
}
