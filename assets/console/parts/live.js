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
  const { error } = polled;
  const stale = error !== null && ago !== null;
  const answered = error !== null && error.status > 0;
  const answer = answered ? `${error.status} ${error.code}` : "";
  return html`<p class=${stale ? "live stale" : "live"}>
    ${ago && html`<span>${t(stale ? (answered ? "stale_answered" : "stale") : "updated", { ago, answer })}</span>`}
    <button class="quiet" onClick=${polled.refresh}>${t("refresh")}</button>
  </p>`;
}
