// @ts-check
/** What was wrong: its class in words, and what names it exactly. */

import { html } from "../html.js";
import { useNames } from "../words.js";
import { classes } from "../words/names.js";

/** @param {{of: {class: string, code: string | null, model?: string | null}, to?: string}} props  `to`: where it leads */
export function Cause({ of, to }) {
  const name = useNames(classes)(of.class);
  return html`<span class="cause">
    ${to ? html`<a href=${to}>${name}</a>` : html`<span>${name}</span>`} ${of.code && html`<code>${of.code}</code>`}
    ${of.model && html`<code class="none">${of.model}</code>`}
  </span>`;
}
