// @ts-check
/** Where a bulk redrive stands. */

import { html } from "../html.js";
import { Chip } from "../parts/chip.js";
import { useNames } from "../words.js";
import { redriveStates } from "../words/names.js";

/** @type {Record<string, import("../parts/chip.js").Tone>} */
const TONES = { canary: "busy", running: "busy", stopped: "warn", done: "good" };

/** @param {{state: string}} props */
export function RedriveChip({ state }) {
  const name = useNames(redriveStates);
  return html`<${Chip} tone=${TONES[state]}>${name(state)}<//>`;
}

/** Starts more by and by. @param {any} redrive */
export const goesOn = (redrive) => redrive.state === "canary" || redrive.state === "running";

/** Its jobs that have not ended. @param {any} redrive @returns {number} */
export const underWay = ({ started, succeeded, failed, canceled }) => started - succeeded - failed - canceled;

/** What it has not come to, and may never: somebody else may have resolved it.
 * @param {any} redrive @returns {number} */
export const left = ({ total, started, skipped }) => Math.max(0, total - started - skipped);
