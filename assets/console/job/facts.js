// @ts-check
/** What is known of a job besides how it stands. */

import { useContext } from "preact/hooks";

import { useCaller } from "../caller.js";
import { count, money } from "../format.js";
import { html } from "../html.js";
import { Card } from "../parts/card.js";
import { Facts } from "../parts/facts.js";
import { Copy, Id } from "../parts/id.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { isOperator } from "../session.js";
import { Speech, useNames, useWords } from "../words.js";
import { job as words } from "../words/job.js";
import { engines, kinds, origins } from "../words/names.js";
import { shell } from "../words/shell.js";

/** @param {{job: any}} props */
export function About({ job }) {
  const t = useWords(words);
  const s = useWords(shell);
  const [kind, origin, engine] = [useNames(kinds), useNames(origins), useNames(engines)];
  const operator = isOperator(useCaller());
  return html`<${Card} title=${t("about")}>
    <${Facts}
      facts=${[
        [t("id"), html`<${Copied} name=${t("id")} text=${job.id} />`],
        [s("tenant"), operator ? html`<span class="name">${job.tenant_id}</span>` : null],
        [t("kind"), kind(job.kind)],
        ...links({ job, operator, t }),
        [t("origin"), origin(job.origin)],
        [t("engine"), engine(job.engine)],
        [t("trace"), job.trace_id && html`<${Copied} name=${t("trace")} text=${job.trace_id} />`],
      ]}
    />
  <//>`;
}

/** @param {{job: any, operator: boolean, t: (name: keyof typeof words.en) => string}} of @returns {[string, any][]} */
function links({ job, operator, t }) {
  const tenant = operator ? job.tenant_id : null;
  const letter = job.id.replace(/^job_/, "dl_");
  const link = (/** @type {string} */ to, /** @type {string} */ text) => html`<a class="name" href=${to}>${text}</a>`;
  const other = (/** @type {string | null} */ id) => id && html`<${Id} id=${id} to=${href(["jobs", id])} />`;
  return [
    [
      t("letter"),
      operator && job.state === "failed" ? html`<${Id} id=${letter} to=${href(["dead-letters", letter])} />` : null,
    ],
    [t("redriven_from"), other(job.redriven_from)],
    [t("redriven_to"), other(job.redriven_to)],
    [t("schedule"), job.origin === "schedule" ? link(...scheduleOf(job, tenant, t("schedule"))) : null],
    [t("run_key"), job.run_key === null ? null : link(href(["jobs"], { run_key: job.run_key, tenant }), job.run_key)],
  ];
}

/** Its run key names the schedule, unless the schedule was given another.
 * @param {any} job @param {string | null} tenant @param {string} label @returns {[string, string]} */
function scheduleOf(job, tenant, label) {
  const name = /^schedule:(.+)$/su.exec(job.run_key ?? "")?.[1];
  return name ? [href(["schedules", name], { tenant }), name] : [href(["schedules"], { tenant }), label];
}

/** @param {{name: string, text: string}} props */
const Copied = ({ name, text }) =>
  html`<span class="copied"><${Id} id=${text} whole /> <${Copy} text=${text} name=${name} /></span>`;

/** @param {{job: any}} props */
export function Used({ job }) {
  const t = useWords(words);
  const language = useContext(Speech);
  const { usage } = job;
  const amount = (/** @type {string | null} */ usd) => (usd === null ? t("cost_unknown") : money(usd));
  const number = (/** @type {number | null} */ value) => (value === null ? null : count(value, language));
  return html`<${Card} title=${t("usage")}>
    ${usage === null && html`<p class="empty">${t("usage_unknown")}</p>`}
    <${Facts}
      facts=${[
        ...(usage === null
          ? []
          : [
              [t("whole_cost"), amount(usage.attempts_cost_usd)],
              [t("last_cost"), amount(usage.cost_usd)],
              [t("input_tokens"), number(usage.input_tokens)],
              [t("output_tokens"), number(usage.output_tokens)],
              [t("audio"), usage.audio_seconds === null ? null : t("audio_seconds", { count: usage.audio_seconds })],
              [t("provider"), usage.provider],
              [t("model"), usage.model],
              [t("provider_request"), usage.provider_request_id && html`<code>${usage.provider_request_id}</code>`],
            ]),
        [t("most_cost"), job.max_cost_usd === null ? null : money(job.max_cost_usd)],
      ]}
    />
  <//>`;
}

/** @param {{job: any}} props */
export function Times({ job }) {
  const t = useWords(words);
  const time = (/** @type {string | null} */ at) => at && html`<${When} time=${at} full />`;
  return html`<${Card} title=${t("times")}>
    <${Facts}
      facts=${[
        [t("created"), time(job.created_at)],
        [t("started"), time(job.started_at)],
        [t("next_attempt"), time(job.next_attempt_at)],
        [t("cancel_requested"), time(job.cancel_requested_at)],
        [t("finished"), time(job.finished_at)],
        [t("deadline"), job.terminal ? null : time(job.deadline_at)],
        [t("expires"), time(job.expires_at)],
        [t("erased_at"), time(job.erased_at)],
      ]}
    />
  <//>`;
}

/** @param {{job: any}} props */
export function Metadata({ job }) {
  const t = useWords(words);
  const entries = Object.entries(job.metadata);
  if (!entries.length) return null;
  const hidden = html`<span class="none">${t("hidden")}</span>`;
  return html`<${Card} title=${t("metadata")}>
    <${Facts} facts=${entries.map(([name, value]) => [name, value ?? hidden])} />
  <//>`;
}
