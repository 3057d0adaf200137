// @ts-check
/** What stands where nothing is yet. */

import { html } from "../html.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";

export function Loading() {
  const t = useWords(shell);
  return html`<p class="loading" role="status">${t("loading")}</p>`;
}

/** @param {{children?: any}} props */
export function Empty({ children }) {
  const t = useWords(shell);
  return html`<p class="empty">${children ?? t("none")}</p>`;
}
