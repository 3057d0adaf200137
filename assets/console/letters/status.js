// @ts-check
/** How a dead letter stands: what was done about it, and how long there is time for it. */

import { html } from "../html.js";
import { Chip } from "../parts/chip.js";
import { useNow } from "../parts/now.js";
import { When } from "../parts/when.js";
import { useNames, useWords } from "../words.js";
import { letters } from "../words/letters.js";
import { letterStatuses, verdicts } from "../words/names.js";

/** @type {Record<string, import("../parts/chip.js").Tone>} */
const TONES = { open: "bad", redriven: "good" };

/** @param {{status: string}} props */
export function StatusChip({ status }) {
  const name = useNames(letterStatuses);
  return html`<${Chip} tone=${TONES[status]}>${name(status)}<//>`;
}

/** By when a person should have looked; marked if nobody has. @param {{letter: any}} props */
export function Due({ letter }) {
  const t = useWords(letters);
  const now = useNow(5);
  if (letter.status !== "open") return html`<span class="none">–</span>`;
  const overdue = new Date(letter.triage_due_at).getTime() < now;
  return html`<span
    ><${When} time=${letter.triage_due_at} /> ${overdue && html`<${Chip} tone="warn">${t("overdue")}<//>`}</span
  >`;
}

/** How long what its job was given is kept. @param {{letter: any, full?: boolean}} props */
export function Kept({ letter, full = false }) {
  const t = useWords(letters);
  if (letter.replayable_until === null) return html`<span class="none">${t("gone")}</span>`;
  return html`<${When} time=${letter.replayable_until} full=${full} />`;
}

/** As it is, or with a patch, which helps wherever the job is still there. @param {any} letter */
export function mayBeRedriven(letter) {
  return letter.replayable || (letter.links.job !== null && isOfAJob(letter));
}

/** A message that is no job's leaves a letter, too. @param {any} letter */
export const isOfAJob = (letter) => letter.kind !== null && letter.road !== "undecodable";

/** What to do about an open letter: what most likely helps, as far as it may still be done. */
export function useAdvice() {
  const t = useWords(letters);
  const verdict = useNames(verdicts);
  return (/** @type {any} */ letter) => {
    if (!isOfAJob(letter)) return t("find_sender");
    if (!mayBeRedriven(letter)) return t("only_discard");
    return letter.replayable_until === null ? t("bring_input") : verdict(letter.verdict);
  };
}
