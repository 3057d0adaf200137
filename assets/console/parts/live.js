// @ts-check
/** How fresh the page is, and looking again at once. */

import { useContext } from "preact/hooks";

import { relativeTime } from "../format.js";
import { html } from "../html.js";
import { Speech, useWords } from "../words.js";
import { shell } from "../words/shell.js";
import { useNow } from "./now.js";

/** @param {{polled: import("../poll.js").Polled}} props */
export function Live({ polled }) {
  const t = useWords(shell);
  const language = useContext(Speech);
  const now = useNow();
  const ago = polled.at === null ? null : relativeTime(Math.min(polled.at, now), language, now);
  const word = polled.error === null ? "updated" : polled.error.status === 404 ? "gone" : "stale";
  return html`<p class=${ago && word !== "updated" ? "live stale" : "live"}>
    ${ago && html`<span>${t(word, { ago })}</span>`}
    ${ago && word !== "updated" && html`<span class="unseen" role="alert">${t(`${word}_said`)}</span>`}
    <button class="quiet" onClick=${polled.refresh}>${t("refresh")}</button>
  </p>`;
}
