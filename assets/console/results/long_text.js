// @ts-check
/** A text of any length, as far as a browser lays it out without a pause. */

import { html } from "../html.js";
import { useWords } from "../words.js";
import { results } from "../words/results.js";

const LONGEST = 100_000;

/** `show` shows what fits; the rest is told of.
 * @param {{text: string, show: (text: string) => any}} props */
export function LongText({ text, show }) {
  const t = useWords(results);
  return html`
    ${show(text.slice(0, LONGEST))}
    ${text.length > LONGEST && html`<p class="hint">${t("cut_off", { count: LONGEST })}</p>`}
  `;
}
