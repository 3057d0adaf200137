// @ts-check
/** A part of a page with a heading, which names it for those who jump from part to part. */

import { useId } from "preact/hooks";

import { html } from "../html.js";

/** @param {{title: string, children?: any}} props */
export function Card({ title, children }) {
  const id = useId();
  return html`<section class="card" aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </section>`;
}
