// @ts-check
/** A moment: how long ago, and exactly when on demand. */

import { useContext } from "preact/hooks";

import { fullTime, relativeTime } from "../format.js";
import { html } from "../html.js";
import { Speech } from "../words.js";
import { useNow } from "./now.js";

/** @param {{time: string | null | undefined, full?: boolean}} props  RFC 3339; `full`: the time itself */
export function When({ time, full = false }) {
  const language = useContext(Speech);
  const now = useNow(5);
  if (!time) return html`<span class="none">–</span>`;
  const [exact, near] = [fullTime(time, language), relativeTime(time, language, now)];
  return html`<time datetime=${time} title=${full ? near : exact}>${full ? exact : near}</time>`;
}
