// @ts-check
/** A page: its title, what is done on it, how fresh it is. */

import { useEffect, useRef } from "preact/hooks";

import { html } from "../html.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";
import { Live } from "./live.js";

/** `polled` is the document that the page shows, if it is live; `tab` is what the tab says, if more.
 * @param {{title: string, tab?: string, polled?: import("../poll.js").Polled, actions?: any, children?: any}} props */
export function Page({ title, tab = title, polled, actions, children }) {
  const t = useWords(shell);
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    document.title = `${tab} · ${t("brand")}`;
  }, [tab]);
  // Whoever comes by keyboard or ear is where the new page begins; not whoever just opened the tab.
  useEffect(() => {
    if (document.activeElement !== document.body) heading.current?.focus();
  }, []);
  return html`<div class="page">
    <div class="page-head">
      <h1 ref=${heading} tabindex="-1">${title}</h1>
      ${actions && html`<div class="actions">${actions}</div>`} ${polled && html`<${Live} polled=${polled} />`}
    </div>
    ${children}
  </div>`;
}
