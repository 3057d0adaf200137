// @ts-check
/** A moment as a filter: chosen in the reader's own zone, kept in the URL as the API wants it. */

import { useId } from "preact/hooks";

import { html } from "../html.js";
import { setQuery } from "../router.js";

/** @param {{label: string, name: string, query: URLSearchParams}} props */
export function Before({ label, name, query }) {
  const id = useId();
  const change = (/** @type {any} */ event) => {
    const { value } = event.currentTarget;
    setQuery({ [name]: value ? new Date(value).toISOString() : null });
  };
  return html`<div class="filter">
    <label for=${id}>${label}</label>
    <input id=${id} type="datetime-local" step="1" value=${localTime(query.get(name))} onChange=${change} />
  </div>`;
}

/** As such a field takes it: in the reader's own zone, which it does not name. @param {string | null} time */
function localTime(time) {
  const at = new Date(time ?? "");
  if (Number.isNaN(at.getTime())) return "";
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}
