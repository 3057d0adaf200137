// @ts-check
/** A stretch of time as a filter: set in the reader's own zone, in the URL as UTC. */

import { useId } from "preact/hooks";

import { serverNow } from "../clock.js";
import { html } from "../html.js";
import { setQuery } from "../router.js";
import { useWords } from "../words.js";
import { stretch } from "../words/window.js";
import { Typed } from "./typed.js";

const HOUR = 3600;
/** @type {["hour" | "day" | "week", number][]} */
const PRESETS = [
  ["hour", HOUR],
  ["day", 24 * HOUR],
  ["week", 7 * 24 * HOUR],
];

/** The parameters are `{name}_after` and `{name}_before`.
 * @param {{label: string, name: string, query: URLSearchParams}} props */
export function Window({ label, name, query }) {
  const t = useWords(stretch);
  const [after, before] = [`${name}_after`, `${name}_before`];
  const last = (/** @type {number} */ seconds) =>
    setQuery({ [after]: new Date(serverNow() - seconds * 1000).toISOString(), [before]: null });
  return html`<fieldset class="window">
    <legend>${label}</legend>
    <${Moment} label=${t("from")} name=${after} query=${query} />
    <${Moment} label=${t("to")} name=${before} query=${query} />
    <div class="presets">
      ${PRESETS.map(
        ([preset, seconds]) =>
          html`<button key=${preset} class="quiet" onClick=${() => last(seconds)}>${t(preset)}</button>`,
      )}
    </div>
  </fieldset>`;
}

/** One moment as a filter. @param {{label: string, name: string, query: URLSearchParams}} props */
export function Moment({ label, name, query }) {
  const id = useId();
  const take = (/** @type {string} */ text) => setQuery({ [name]: fromLocal(text) });
  return html`<div class="filter">
    <label for=${id}>${label}</label>
    <${Typed} id=${id} type="datetime-local" step="1" value=${toLocal(query.get(name))} take=${take} />
  </div>`;
}

/** A time as the field wants it: without its zone, to the second. @param {string | null} time */
function toLocal(time) {
  const moment = new Date(time ?? "");
  if (Number.isNaN(moment.getTime())) return "";
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** What the field says, as UTC; null where it says nothing. @param {string} text */
function fromLocal(text) {
  const moment = new Date(text); // without a zone: the reader's own
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}
