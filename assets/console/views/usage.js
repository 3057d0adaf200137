// @ts-check
/** What was used and what it cost, by day, kind and model. */

import { useContext } from "preact/hooks";

import { pathWith } from "../api.js";
import { useCaller } from "../caller.js";
import { count, duration, money } from "../format.js";
import { html } from "../html.js";
import { Card } from "../parts/card.js";
import { Facts } from "../parts/facts.js";
import { Choice, Filters, Text } from "../parts/filters.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Table } from "../parts/table.js";
import { href } from "../router.js";
import { isOperator } from "../session.js";
import { Speech, useNames, useWords } from "../words.js";
import { kinds } from "../words/names.js";
import { shell } from "../words/shell.js";
import { usage } from "../words/usage.js";

export const parameters = ["from", "to", "kind", "tenant"];
const EVERY_SECONDS = 30;
const DAY_MS = 86_400_000;

/** @param {import("../pages.js").ViewProps} props */
export default function Usage({ query }) {
  const t = useWords(usage);
  const asked = Object.fromEntries(parameters.map((name) => [name, query.get(name)]));
  const pages = usePages(pathWith("/v1/usage", asked), { every: EVERY_SECONDS });
  const { data } = pages.polled;
  return html`<${Page} title=${t("title")} polled=${pages.polled}>
    <${Fit} query=${query} />
    ${data?.budget && html`<${Budget} budget=${data.budget} />`} ${data && html`<${Totals} data=${data} />`}
    <${Listed} pages=${pages} empty=${t("none")}>
      ${(/** @type {any[]} */ items) => html`<${UsageTable} items=${items} />`}
    <//>
    <p class="hint">${t("hint")}</p>
  <//>`;
}

/** @param {{query: URLSearchParams}} props */
function Fit({ query }) {
  const t = useWords(usage);
  const s = useWords(shell);
  const kind = useNames(kinds);
  const operator = isOperator(useCaller());
  return html`<${Filters} names=${parameters} query=${query}>
    <${Text} label=${t("from")} name="from" type="date" query=${query} />
    <${Text} label=${t("to")} name="to" type="date" query=${query} />
    <${Choice}
      label=${t("kind")}
      name="kind"
      query=${query}
      options=${Object.keys(kinds.en).map((name) => [name, kind(name)])}
    />
    ${operator && html`<${Text} label=${s("tenant")} name="tenant" query=${query} />`}
  <//>`;
}

/** @param {{budget: any}} props */
function Budget({ budget: { daily_usd: daily, spent_usd: spent, reserved_usd: reserved } }) {
  const t = useWords(usage);
  const values = { daily: money(daily), spent: money(spent), reserved: money(reserved) };
  return html`<${Card} title=${t("budget")}>
    <progress max=${Number(daily)} value=${Math.min(Number(spent), Number(daily))} aria-label=${t("budget")}></progress>
    <p>${t("budget_told", values)}</p>
  <//>`;
}

/** @param {{data: any}} props */
function Totals({ data: { from, to, totals } }) {
  const t = useWords(usage);
  const language = useContext(Speech);
  return html`<${Card} title=${t("totals", { from, to })}>
    <${Facts}
      facts=${[
        [t("attempts"), count(totals.attempts, language)],
        [t("failed"), count(totals.failed_attempts, language)],
        [t("tokens"), tokens(totals, language)],
        [t("audio"), duration(totals.audio_seconds, language)],
        [t("cost"), html`<${Cost} used=${totals} />`],
        [t("failed_cost"), totals.failed_cost_usd === null ? t("unknown") : money(totals.failed_cost_usd)],
      ]}
    />
    <p class="hint">${t("totals_hint")}</p>
  <//>`;
}

/** @param {{items: any[]}} props */
function UsageTable({ items }) {
  const t = useWords(usage);
  const s = useWords(shell);
  const language = useContext(Speech);
  const kind = useNames(kinds);
  const operator = isOperator(useCaller());
  /** @param {string} label @param {(row: any) => any} cell @param {boolean} [numeric] */
  const column = (label, cell, numeric) => ({ label, cell, numeric });
  const name = (/** @type {any} */ text) => html`<span class="name">${text}</span>`;
  const columns = [
    column(t("day"), (row) => html`<a href=${jobsOf(row, operator)}>${row.day}</a>`),
    ...(operator ? [column(s("tenant"), (row) => html`<a class="name" href=${onlyOf(row)}>${row.tenant_id}</a>`)] : []),
    column(t("kind"), (row) => name(kind(row.kind))),
    column(t("model"), ({ provider, model }) => name([provider, model].filter(Boolean).join(" / ") || t("no_model"))),
    column(t("attempts"), (row) => html`<a href=${jobsOf(row, operator)}>${count(row.attempts, language)}</a>`, true),
    column(t("failed"), (row) => failures(row, { operator, language }), true),
    column(t("tokens"), (row) => tokens(row, language), true),
    column(t("audio"), (row) => (row.audio_seconds ? duration(row.audio_seconds, language) : "–"), true),
    column(t("cost"), (row) => html`<${Cost} used=${row} />`, true),
  ];
  const id = (/** @type {any} */ row) => JSON.stringify([row.day, row.tenant_id, row.kind, row.provider, row.model]);
  return html`<${Table} caption=${t("title")} columns=${columns} rows=${items} id=${id} />`;
}

/** The jobs of a row that ended on its day. Only operators name a tenant: another's key has its own alone.
 * @param {any} row @param {boolean} operator @param {string} [state] */
function jobsOf({ day, tenant_id: tenant, kind }, operator, state) {
  const start = Date.parse(day);
  const [from, to] = [start, start + DAY_MS].map((at) => new Date(at).toISOString());
  const times = { finished_after: from, finished_before: to };
  return href(["jobs"], { state, kind, tenant: operator ? tenant : null, ...times });
}

/** @param {any} row */
const onlyOf = ({ day, tenant_id: tenant }) => href(["usage"], { from: day, to: day, tenant });

/** @param {any} row @param {{operator: boolean, language: import("../session.js").Language}} reader */
function failures(row, { operator, language }) {
  const text = count(row.failed_attempts, language);
  return row.failed_attempts ? html`<a href=${jobsOf(row, operator, "failed")}>${text}</a>` : text;
}

/** @param {any} used @param {import("../session.js").Language} language */
const tokens = ({ input_tokens: taken, output_tokens: given }, language) =>
  `${count(taken, language)} / ${count(given, language)}`;

/** What it cost as far as it is known, and of how many it is not. @param {{used: any}} props */
function Cost({ used: { cost_usd: usd, unknown_cost_attempts: unknown } }) {
  const t = useWords(usage);
  if (usd === null) return t("unknown");
  return html`<div>
    ${money(usd)} ${unknown > 0 && html`<p class="hint cost-hint">${t("not_in_it", { count: unknown })}</p>`}
  </div>`;
}
