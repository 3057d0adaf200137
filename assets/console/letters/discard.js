// @ts-check
/** Decide that nothing will be done about a dead letter. */

import { post, segment } from "../api.js";
import { isolated } from "../format.js";
import { html } from "../html.js";
import { Ask } from "../parts/dialog.js";
import { useWords } from "../words.js";
import { letters } from "../words/letters.js";
import { Kept } from "./status.js";

/** @param {{letter: any, refresh: () => void, leave: () => void}} props */
export function Discard({ letter, refresh, leave }) {
  const t = useWords(letters);
  const act = async (/** @type {string} */ reason) => {
    try {
      await post(`/v1/dead-letters/${segment(letter.id)}/discard`, { reason });
      leave();
    } finally {
      refresh(); // also where it was refused, or no answer came: the letter tells what is so
    }
  };
  return html`<${Ask}
    title=${t("discard_title")}
    verb=${t("discard_verb")}
    danger
    reason
    ready=${letter.status === "open"}
    act=${act}
    leave=${leave}
  >
    <p>${t("discard_what")}</p>
    ${
      letter.replayable_until === null
        ? letter.job_id !== null && html`<p>${t("discard_gone")}</p>`
        : html`<p>${t("discard_content")} <${Kept} letter=${letter} full /></p>`
    }
    ${letter.tenant_id !== null && html`<p>${t("discard_again", { tenant: isolated(letter.tenant_id) })}</p>`}
  <//>`;
}
