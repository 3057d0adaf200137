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
  const word = wordFor(error);
  const answer = error ? `${error.status} ${error.code}` : "";
  const stale = ago !== null && word !== "updated";
  return html`<p class=${stale ? "live stale" : "live"}>
    ${ago && html`<span>${t(word, { ago, answer })}</span>`}
    ${stale && html`<span class="unseen" role="alert">${t(`${word}_said`)}</span>`}
    <button class="quiet" onClick=${polled.refresh}>${t("refresh")}</button>
  </p>`;
}

/** How it stands with what is shown. @param {import("../api.js").ApiError | null} error */
function wordFor(error) {
  if (error === null) return "updated";
  if (error.status === 404) return "gone";
  return error.status > 0 ? "stale_answered" : "stale";
}
