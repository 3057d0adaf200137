// @ts-check
/** A page: its title, what is done on it, how fresh it is. */

import { useEffect, useRef } from "preact/hooks";

import { html } from "../html.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";
import { Live } from "./live.js";

/** The address of the page that was shown last; null before the first. @type {string | null} */
let shown = null;
/** Whether the reader has gone from one page to another in this tab. */
let moved = false;

/**
 * Whoever comes by a link or a form, by eye, ear or keyboard, is where the new page begins; not whoever
 * just opened the tab. A page may be drawn in steps: then the focus that a step has lost is given back,
 * and none is taken away.
 * @param {HTMLElement | null} heading
 */
function arrive(heading) {
  const here = location.hash.split("?")[0] ?? "";
  const elsewhere = shown !== null && shown !== here;
  shown = here;
  moved ||= elsewhere;
  if (elsewhere || (moved && document.activeElement === document.body)) heading?.focus();
}

/** `polled` is the document that the page shows, if it is live; `tab` is what the tab says, if more.
 * @param {{title: string, tab?: string, polled?: import("../poll.js").Polled, actions?: any, children?: any}} props */
export function Page({ title, tab = title, polled, actions, children }) {
  const t = useWords(shell);
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    document.title = `${tab} · ${t("brand")}`;
  }, [tab]);
  useEffect(() => arrive(heading.current), []);
  return html`<div class="page">
    <div class="page-head">
      <h1 ref=${heading} tabindex="-1">${title}</h1>
      ${actions && html`<div class="actions">${actions}</div>`} ${polled && html`<${Live} polled=${polled} />`}
    </div>
    ${children}
  </div>`;
}
