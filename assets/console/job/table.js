// @ts-check
/** Jobs as rows. */

import { useCaller } from "../caller.js";
import { money } from "../format.js";
import { html } from "../html.js";
import { Chip, StateChip } from "../parts/chip.js";
import { Id } from "../parts/id.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { isOperator } from "../session.js";
import { useNames, useWords } from "../words.js";
import { jobs } from "../words/jobs.js";
import { classes, kinds } from "../words/names.js";
import { shell } from "../words/shell.js";

/** @typedef {import("../parts/table.js").Column} Column */

/** @param {{items: any[]}} props */
export function JobTable({ items }) {
  const t = useWords(jobs);
  const s = useWords(shell);
  const kind = useNames(kinds);
  const operator = isOperator(useCaller());
  /** @type {Column[]} */
  const owner = operator
    ? [{ label: s("tenant"), cell: (job) => html`<span class="name">${job.tenant_id}</span>` }]
    : [];
  /** @type {Column[]} */
  const columns = [
    { label: t("job"), cell: (job) => html`<${Id} id=${job.id} to=${href(["jobs", job.id])} />` },
    { label: t("state"), cell: (job) => html`<${Stand} job=${job} />` },
    { label: t("kind"), cell: (job) => kind(job.kind) },
    ...owner,
    { label: t("created"), cell: (job) => html`<${When} time=${job.created_at} />` },
    { label: t("finished"), cell: (job) => html`<${When} time=${job.finished_at} />` },
    { label: t("attempts"), numeric: true, cell: (job) => job.attempts },
    { label: t("cost"), numeric: true, cell: (job) => money(job.usage?.attempts_cost_usd) },
  ];
  return html`<${Table} caption=${t("title")} rows=${items} columns=${columns} />`;
}

/** Its state, and the one thing more that the state makes one ask. @param {{job: any}} props */
function Stand({ job }) {
  const t = useWords(jobs);
  const reason = useNames(classes);
  const { state, progress, error, terminal } = job;
  return html`<div class="stand">
    <${StateChip} state=${state} />
    ${state === "running" && progress && html`<${Bar} progress=${progress} />`}
    ${!terminal && job.next_attempt_at && html`<span class="soft">${t("next")} <${When} time=${job.next_attempt_at} /></span>`}
    ${error && (state === "retrying" || state === "failed") && html`<span class="soft">${reason(error.class)}</span>`}
    ${!terminal && job.cancel_requested_at && html`<${Chip} tone="warn">${t("wish")}<//>`}
  </div>`;
}

/** @param {{progress: {done: number, total: number}}} props */
function Bar({ progress: { done, total } }) {
  const t = useWords(jobs);
  return html`<progress aria-label=${t("progress")} value=${done} max=${Math.max(total, 1)}></progress>
    <span class="soft">${t("done_of", { done, total })}</span>`;
}
