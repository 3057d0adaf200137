// @ts-check
/** A result whose shape nobody here knows. */

import { html } from "../html.js";
import { useWords } from "../words.js";
import { results } from "../words/results.js";
import { LongText } from "./long_text.js";

/** @param {{body: any}} props */
export function AsJson({ body }) {
  const t = useWords(results);
  const text = JSON.stringify(body, null, 2);
  return html`<${LongText}
    text=${text}
    show=${(/** @type {string} */ shown) => html`<pre tabindex="0" aria-label=${t("json")}>${shown}</pre>`}
  />`;
}
