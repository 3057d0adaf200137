// @ts-check
/** How a job stands right now: what somebody who waits for it wants to know first. */

import { useContext } from "preact/hooks";

import { duration } from "../format.js";
import { html } from "../html.js";
import { Chip, StateChip } from "../parts/chip.js";
import { Failure, useFailure } from "../parts/failure.js";
import { useNow } from "../parts/now.js";
import { Progress } from "../parts/progress.js";
import { When } from "../parts/when.js";
import { Speech, useNames, useWords } from "../words.js";
import { job as words } from "../words/job.js";
import { classes, states } from "../words/names.js";

/** @param {{job: any}} props */
export function Standing({ job }) {
  const t = useWords(words);
  const { progress, terminal } = job;
  return html`<section class="card standing" aria-label=${t("title")}>
    <${Said} job=${job} />
    <p class="now told">
      <${StateChip} state=${job.state} /> <span><${Clockwork} job=${job} /></span>
    </p>
    ${
      progress &&
      !terminal &&
      html`<${Progress} label=${t("progress")} ...${progress} text=${t("done_of", progress)} />`
    }
    ${job.cancel_requested_at && !terminal && html`<p class="notice">${t("wish")}</p>`}
    ${job.error && job.state !== "canceled" && html`<${Reason} job=${job} />`}
    <p class="hint">${t("attempts_of", { attempts: job.attempts, most: job.max_attempts })}</p>
  </section>`;
}

/** Told to who cannot see: each change of the state, and no tick of a clock or bar. @param {{job: any}} props */
function Said({ job }) {
  const t = useWords(words);
  const state = useNames(states)(job.state);
  const failure = useFailure();
  const more = job.cancel_requested_at && !job.terminal ? t("wish") : job.error ? failure(job.error) : "";
  return html`<p class="unseen" role="status">${more ? t("said", { state, more }) : state}</p>`;
}

/** What the clock says of it. @param {{job: any}} props */
function Clockwork({ job }) {
  const t = useWords(words);
  const language = useContext(Speech);
  const now = useNow();
  const since = (/** @type {string} */ time) => whole((now - Date.parse(time)) / 1000, language);
  const until = job.next_attempt_at ? (Date.parse(job.next_attempt_at) - now) / 1000 : 0;
  const span = whole(Math.ceil(until), language);
  if (job.terminal) return html`<${Took} job=${job} />`;
  if (job.state === "running") return t("running_for", { span: since(job.started_at ?? job.created_at) });
  if (job.state === "retrying") return until > 0 ? t("next_in", { span }) : t("next_due");
  if (job.next_attempt_at) return until > 0 ? t("put_off", { span }) : t("put_off_due");
  return t("waiting_for", { span: since(job.created_at) });
}

/** @param {{job: any}} props */
function Took({ job }) {
  const t = useWords(words);
  const language = useContext(Speech);
  const seconds = (Date.parse(job.finished_at) - Date.parse(job.created_at)) / 1000;
  return html`<${When} time=${job.finished_at} /> · ${t("took", { span: duration(seconds, language) })}`;
}

/** @param {{job: any}} props */
function Reason({ job }) {
  const t = useWords(words);
  const reason = useNames(classes);
  const { error, state } = job;
  return html`<div class=${state === "failed" ? "reason bad" : "reason"}>
    <p class="hint">${t(state === "failed" ? "ended_by" : "last_error")}</p>
    <p><${Chip} tone=${state === "failed" ? "bad" : "warn"}>${reason(error.class)}<//></p>
    <${Failure} failure=${error} />
  </div>`;
}

/** @param {number} seconds @param {import("../session.js").Language} language */
const whole = (seconds, language) => duration(Math.max(0, Math.floor(seconds)), language);
