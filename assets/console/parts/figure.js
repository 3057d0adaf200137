// @ts-check
/** Key figures: each number leads to what it counts. */

import { html } from "../html.js";

/** @typedef {{label: string, value: string | null, to: string}} Figure  `value` null: there is none to tell */

/** @param {{figures: Figure[]}} props */
export const Figures = ({ figures }) =>
  html`<dl class="figures">
    ${figures.map(
      ({ label, value, to }) =>
        html`<div key=${label}>
          <dt>${label}</dt>
          <dd><${Counted} value=${value} to=${to} /></dd>
        </div>`,
    )}
  </dl>`;

/** A number with what it counts behind it. @param {{value: string | null, to: string}} props */
export const Counted = ({ value, to }) =>
  value === null ? html`<span class="none">–</span>` : html`<a href=${to}>${value}</a>`;
