// @ts-check
/** The list of jobs, newest first. */

import { pathWith } from "../api.js";
import { useCaller } from "../caller.js";
import { money } from "../format.js";
import { html } from "../html.js";
import { StateChip } from "../parts/chip.js";
import { Choice, Filters, Text } from "../parts/filters.js";
import { Id } from "../parts/id.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { isOperator } from "../session.js";
import { useNames, useWords } from "../words.js";
import { jobs } from "../words/jobs.js";
import { kinds, states } from "../words/names.js";
import { shell } from "../words/shell.js";

const FILTERS = ["state", "kind", "run_key", "tenant"];

/** @param {import("../pages.js").ViewProps} props */
export default function Jobs({ query }) {
  const t = useWords(jobs);
  const asked = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]));
  const pages = usePages(pathWith("/v1/jobs", asked));
  return html`<${Page} title=${t("title")} polled=${pages.polled}>
    <${Fit} query=${query} />
    <${Listed} pages=${pages} empty=${t("none")}>
      ${(/** @type {any[]} */ items) => html`<${JobTable} items=${items} />`}
    <//>
  <//>`;
}

/** @param {{query: URLSearchParams}} props */
function Fit({ query }) {
  const t = useWords(jobs);
  const s = useWords(shell);
  const [state, kind] = [useNames(states), useNames(kinds)];
  const operator = isOperator(useCaller());
  return html`<${Filters} names=${FILTERS} query=${query}>
    <${Choice}
      label=${t("state")}
      name="state"
      query=${query}
      options=${Object.keys(states.en).map((name) => [name, state(name)])}
    />
    <${Choice}
      label=${t("kind")}
      name="kind"
      query=${query}
      options=${Object.keys(kinds.en).map((name) => [name, kind(name)])}
    />
    <${Text} label=${t("run_key")} name="run_key" query=${query} />
    ${operator && html`<${Text} label=${s("tenant")} name="tenant" query=${query} />`}
  <//>`;
}

/** @param {{items: any[]}} props */
export function JobTable({ items }) {
  const t = useWords(jobs);
  const s = useWords(shell);
  const kind = useNames(kinds);
  const operator = isOperator(useCaller());
  return html`<${Table}
    caption=${t("title")}
    rows=${items}
    columns=${[
      { label: t("job"), cell: (/** @type {any} */ job) => html`<${Id} id=${job.id} to=${href(["jobs", job.id])} />` },
      { label: t("state"), cell: (/** @type {any} */ job) => html`<${StateChip} state=${job.state} />` },
      { label: t("kind"), cell: (/** @type {any} */ job) => kind(job.kind) },
      ...(operator
        ? [{ label: s("tenant"), cell: (/** @type {any} */ job) => html`<span class="name">${job.tenant_id}</span>` }]
        : []),
      { label: t("created"), cell: (/** @type {any} */ job) => html`<${When} time=${job.created_at} />` },
      { label: t("finished"), cell: (/** @type {any} */ job) => html`<${When} time=${job.finished_at} />` },
      { label: t("attempts"), numeric: true, cell: (/** @type {any} */ job) => job.attempts },
      { label: t("cost"), numeric: true, cell: (/** @type {any} */ job) => money(job.usage?.attempts_cost_usd) },
    ]}
  />`;
}
