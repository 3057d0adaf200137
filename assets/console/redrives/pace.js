// @ts-check
/** How carefully a bulk redrive begins, and how fast it goes on. */

import { useId } from "preact/hooks";

import { html } from "../html.js";
import { useWords } from "../words.js";
import { redrives } from "../words/redrives.js";

const MOST_CANARIES = 100;
const MOST_A_MINUTE = 600;

/** As typed. @typedef {{canary: string, rate: string}} Typed */
/** @typedef {{canary: number, rate_per_minute: number}} Order */
/** @typedef {Partial<Record<keyof Typed, keyof typeof redrives.en>>} Wrong */

/** The API's own defaults. @type {Typed} */
export const USUAL_PACE = { canary: "3", rate: "60" };

/** @param {Typed} typed @returns {{order: Order | null, wrong: Wrong}} */
export function readPace(typed) {
  const [canary, rate] = [whole(typed.canary), whole(typed.rate)];
  /** @type {Wrong} */
  const wrong = {};
  if (!(canary >= 0 && canary <= MOST_CANARIES)) wrong.canary = "bad_canary";
  if (!(rate >= 1 && rate <= MOST_A_MINUTE)) wrong.rate = "bad_rate";
  return { order: Object.keys(wrong).length > 0 ? null : { canary, rate_per_minute: rate }, wrong };
}

/** @param {string} text */
const whole = (text) => (/^\d{1,4}$/.test(text.trim()) ? Number(text) : NaN);

/** @param {{pace: Typed, change: (pace: Typed) => void, wrong: Wrong}} props */
export function Pace({ pace, change, wrong }) {
  return html`<div class="pace">
    <${Field} name="canary" hint="canary_hint" pace=${pace} change=${change} fault=${wrong.canary} />
    <${Field} name="rate" hint="rate_hint" pace=${pace} change=${change} fault=${wrong.rate} />
  </div>`;
}

/** @param {{name: keyof Typed, hint: keyof typeof redrives.en, pace: Typed, change: (pace: Typed) => void,
 *   fault?: keyof typeof redrives.en}} props */
function Field({ name, hint, pace, change, fault }) {
  const t = useWords(redrives);
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${t(name)}</label>
    <input
      id=${id}
      inputmode="numeric"
      autocomplete="off"
      value=${pace[name]}
      aria-invalid=${fault ? "true" : undefined}
      aria-describedby=${`${id}-hint`}
      onInput=${(/** @type {any} */ event) => change({ ...pace, [name]: event.currentTarget.value })}
    />
    <p id=${`${id}-hint`} class=${fault ? "refusal" : "hint"} aria-live="polite">${t(fault ?? hint)}</p>
  </div>`;
}
