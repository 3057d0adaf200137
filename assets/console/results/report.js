// @ts-check
/** A report: its document, and what it was made of. */

import { useMemo } from "preact/hooks";

import { html } from "../html.js";
import { Copy, Id } from "../parts/id.js";
import { href } from "../router.js";
import { useWords } from "../words.js";
import { results } from "../words/results.js";
import { LongText } from "./long_text.js";
import { nodesOf } from "./markdown.js";
import { save } from "./save.js";

/** @param {{job: any, result: any}} props */
export function Report({ job, result }) {
  const t = useWords(results);
  const { markdown } = result;
  const nodes = useMemo(() => nodesOf(markdown), [markdown]);
  const download = () => save(new Blob([markdown], { type: "text/markdown" }), `${job.id}.md`);
  return html`
    ${nodes ? html`<div class="prose">${nodes}</div>` : html`<${Unread} markdown=${markdown} />`}
    <div class="actions">
      <${Copy} text=${markdown} />
      <button class="quiet" onClick=${download}>${t("download", { ending: "md" })}</button>
    </div>
    ${Array.isArray(result.sources) && result.sources.length > 0 && html`<${Sources} sources=${result.sources} />`}
  `;
}

/** As it is written. @param {{markdown: string}} props */
const Unread = ({ markdown }) =>
  html`<${LongText} text=${markdown} show=${(/** @type {string} */ text) => html`<pre class="lines">${text}</pre>`} />`;

/** @param {{sources: any[]}} props */
function Sources({ sources }) {
  const t = useWords(results);
  return html`<details class="sources">
    <summary>${t("sources", { count: sources.length })}</summary>
    <ol>
      ${sources.map(
        ({ ref, summary, missing }, at) =>
          html`<li key=${at}>
            <${Id} id=${String(ref)} to=${/^job_/.test(ref) ? href(["jobs", ref]) : undefined} />
            ${
              missing != null
                ? html`<p class="refusal">${t("missing", { why: String(missing) })}</p>`
                : html`<p class="lines">${summary}</p>`
            }
          </li>`,
      )}
    </ol>
  </details>`;
}
