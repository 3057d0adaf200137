// @ts-check
/** When an expression would come true, as the API says, while it is being written. */

import { useEffect, useState } from "preact/hooks";

import { pathWith } from "../api.js";
import { html } from "../html.js";
import { usePolled } from "../poll.js";
import { useWords } from "../words.js";
import { schedules } from "../words/schedules.js";
import { InZones } from "./times.js";

const PATIENCE_MS = 400;

/** @param {{cron: string, timezone: string}} props */
export function Preview({ cron, timezone }) {
  const t = useWords(schedules);
  const asked = useSettled(cron.trim() ? pathWith("/v1/cron", { cron, timezone }) : null);
  const { data, error } = usePolled(asked, { every: 0 });
  return html`<div class="preview" aria-live="polite">
    ${asked === null && html`<p class="hint">${t("preview_hint")}</p>`}
    ${
      error &&
      html`<ul class="faults refusal">
        ${error.faults.length ? error.faults.map(({ detail }) => html`<li key=${detail} lang="en">${detail}</li>`) : html`<li>${error.detail || t("preview_failed")}</li>`}
      </ul>`
    }
    ${data && html`<${Times} times=${data.next} zone=${data.timezone} />`}
  </div>`;
}

/** @param {{times: string[], zone: string}} props */
function Times({ times, zone }) {
  const t = useWords(schedules);
  return html`<p class="hint">${t("preview")}</p>
    <ol>
      ${times.map((time) => html`<li key=${time}><${InZones} time=${time} zone=${zone} /></li>`)}
    </ol>`;
}

/** What has not changed for a moment: whoever writes is not done at each letter.
 * @template T @param {T} value @returns {T} */
function useSettled(value) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), PATIENCE_MS);
    return () => window.clearTimeout(timer);
  }, [value]);
  return settled;
}
