// @ts-check
/** Ask for a dead letter's work once more, as a new job. */

import { useState } from "preact/hooks";

import { ApiError, post, segment } from "../api.js";
import { isolated } from "../format.js";
import { html } from "../html.js";
import { Ask } from "../parts/dialog.js";
import { href, wayOn } from "../router.js";
import { useNames, useWords } from "../words.js";
import { letters } from "../words/letters.js";
import { verdicts } from "../words/names.js";
import { NO_PATCH, PatchFields, readPatch } from "./patch.js";

/** @param {{letter: any, refresh: () => void, leave: () => void}} props */
export function Redrive({ letter, refresh, leave }) {
  const t = useWords(letters);
  const [fields, setFields] = useState(NO_PATCH);
  const [force, setForce] = useState(false);
  const [refusal, setRefusal] = useState(/** @type {ApiError | null} */ (null));
  const { patch, wrong } = readPatch(fields);

  const act = async (/** @type {string} */ reason) => {
    const go = wayOn();
    try {
      const asked = { reason, ...(patch && { patch }), ...(force && { force }) };
      const job = await post(`/v1/dead-letters/${segment(letter.id)}/redrive`, asked);
      go(href(["jobs", job.id]));
    } catch (problem) {
      if (problem instanceof ApiError) setRefusal(problem);
      refresh();
      throw problem;
    }
  };
  const ready = letter.status === "open" && wrong.length === 0 && (letter.replayable || patch !== null);
  return html`<${Ask}
    title=${t("redrive_title")}
    verb=${t("redrive_verb")}
    reason
    ready=${ready}
    act=${act}
    leave=${leave}
  >
    <${What} letter=${letter} />
    <${PatchFields} fields=${fields} change=${setFields} wrong=${wrong} open=${!letter.replayable} />
    ${refusal?.members.needs_force === true && html`<${Force} checked=${force} change=${setForce} />`}
    <${InTheWay} refusal=${refusal} />
  <//>`;
}

/** Verdicts that want something else done first. */
const BEFORE = ["fix_configuration", "wait"];

/** @param {{letter: any}} props */
function What({ letter }) {
  const t = useWords(letters);
  const verdict = useNames(verdicts);
  const redrives = letter.redrive_count;
  return html`
    <p>${t("redrive_what", { tenant: isolated(letter.tenant_id) })} ${t("redrive_once")}</p>
    ${BEFORE.includes(letter.verdict) && html`<p class="notice">${verdict(letter.verdict)}</p>`}
    ${redrives > 0 && html`<p class="notice">${t("line", { count: redrives })}</p>`}
    ${!letter.replayable && letter.status === "open" && html`<p>${t("patch_needed")}</p>`}
  `;
}

/** @param {{checked: boolean, change: (checked: boolean) => void}} props */
function Force({ checked, change }) {
  const t = useWords(letters);
  return html`<label class="tick">
    <input
      type="checkbox"
      checked=${checked}
      onChange=${(/** @type {any} */ event) => change(event.currentTarget.checked)}
    />
    ${t("force")}
  </label>`;
}

/** The way to the job that is in the way of this one. @param {{refusal: ApiError | null}} props */
function InTheWay({ refusal }) {
  const t = useWords(letters);
  const id = refusal?.members.id;
  if (!refusal || typeof id !== "string") return null;
  const word = refusal.code === "run_in_progress" ? "live_job" : "first_job";
  return html`<p><a href=${href(["jobs", id])}>${t(word)}</a></p>`;
}
