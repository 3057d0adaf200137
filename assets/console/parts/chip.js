// @ts-check
/** Words in colour: the colour says no more than the word. */

import { html } from "../html.js";
import { useNames } from "../words.js";
import { states } from "../words/names.js";

/** @typedef {"neutral" | "busy" | "good" | "warn" | "bad"} Tone */

/** @type {Record<string, Tone>} */
const TONES = { running: "busy", retrying: "warn", succeeded: "good", failed: "bad" };

/** @param {{tone?: Tone, children?: any}} props */
export const Chip = ({ tone = "neutral", children }) => html`<span class="chip ${tone}">${children}</span>`;

/** A job's state. @param {{state: string}} props */
export function StateChip({ state }) {
  const name = useNames(states);
  return html`<${Chip} tone=${TONES[state]}>${name(state)}<//>`;
}
