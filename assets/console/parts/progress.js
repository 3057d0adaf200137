// @ts-check
/** How far something is: a bar, and the same in figures. */

import { useContext } from "preact/hooks";

import { percent } from "../format.js";
import { html } from "../html.js";
import { Speech } from "../words.js";

/** @param {{label: string, done: number, total: number, text: string}} props */
export function Progress({ label, done, total, text }) {
  const language = useContext(Speech);
  const share = total > 0 ? percent(Math.floor((100 * done) / total) / 100, language) : null;
  return html`<div class="progress">
    <progress aria-label=${label} value=${done} max=${Math.max(total, 1)}></progress>
    <span>${text}${share && ` · ${share}`}</span>
  </div>`;
}
