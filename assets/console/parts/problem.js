// @ts-check
/** A refusal or failure of the API, in its own words: they say what to do next. */

import { html } from "../html.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";
import { Named } from "./place.js";

/** @param {{error: import("../api.js").ApiError, retry?: () => void}} props */
export function Problem({ error, retry }) {
  const t = useWords(shell);
  const { request_id: request, id: other } = error.members; // `id`: what stands in the way
  return html`<div class="problem" role="alert">
    <p>${error.status === 0 ? t("unreachable") : error.detail}</p>
    ${
      error.faults.length > 0 &&
      html`<ul>
        ${error.faults.map(
          (fault) =>
            html`<li key=${fault.pointer + fault.code}><code>${fault.pointer || "/"}</code> ${fault.detail}</li>`,
        )}
      </ul>`
    }
    ${typeof other === "string" && html`<p><${Named} id=${other} /></p>`}
    <p class="hint">
      ${error.status > 0 && html`<code>${error.status} ${error.code}</code> `}${request && t("request", { id: request })}
    </p>
    ${retry && html`<button onClick=${retry}>${t("try_again")}</button>`}
  </div>`;
}
