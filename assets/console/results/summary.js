// @ts-check
/** A summary. */

import { html } from "../html.js";
import { Copy } from "../parts/id.js";
import { useWords } from "../words.js";
import { results } from "../words/results.js";
import { LanguageOf, tagOf } from "./language.js";
import { LongText } from "./long_text.js";

/** @param {{result: any}} props */
export function Summary({ result }) {
  const t = useWords(results);
  return html`
    <${LongText}
      text=${result.summary}
      show=${(/** @type {string} */ shown) => html`<div class="prose lines" lang=${tagOf(result.language)}>${shown}</div>`}
    />
    <p class="hint">
      <${LanguageOf} tag=${result.language} />
      ${typeof result.chunks === "number" && html` · ${t("chunks", { count: result.chunks })}`}
      <${Copy} text=${result.summary} />
    </p>
  `;
}
