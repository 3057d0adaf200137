// @ts-check
/** A result whose shape nobody here knows. */

import { html } from "../html.js";
import { useWords } from "../words.js";
import { results } from "../words/results.js";

/** A browser lays out so many letters at once without a pause. */
const LONGEST = 100_000;

/** @param {{body: any}} props */
export function AsJson({ body }) {
  const t = useWords(results);
  const text = JSON.stringify(body, null, 2);
  return html`
    <pre tabindex="0" aria-label=${t("json")}>${text.slice(0, LONGEST)}</pre>
    ${text.length > LONGEST && html`<p class="hint">${t("cut_off", { count: LONGEST })}</p>`}
  `;
}
