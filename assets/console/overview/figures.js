// @ts-check
/** The key figures of now and of the last hour; each leads to the list behind it. */

import { useContext } from "preact/hooks";

import { count, duration, money, percent } from "../format.js";
import { html } from "../html.js";
import { Card } from "../parts/card.js";
import { Counted, Figures } from "../parts/figure.js";
import { DUE, EXPIRING, NOT_DUE, PAST_TRIAGE } from "../parts/measure.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { Speech, useNames, useWords } from "../words.js";
import { classes as classNames, kinds, states } from "../words/names.js";
import { overview } from "../words/overview.js";
import { jobOr } from "./attention.js";

/** @typedef {import("../parts/figure.js").Figure} Figure */

const LIVE = ["accepted", "running", "retrying"];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** When the last hour began, as the API counts it: by minutes of the clock, the one that runs included.
 * @param {string} at  the figures' own time */
const hourBefore = (at) => new Date(Math.floor(Date.parse(at) / MINUTE_MS) * MINUTE_MS - 59 * MINUTE_MS).toISOString();

/** @param {{metrics: any}} props  `GET /v1/metrics` */
export const KeyFigures = ({ metrics }) =>
  html`<div class="key-figures">
    <${Backlog} metrics=${metrics} />
    <${Letters} metrics=${metrics} />
    <${Hour} metrics=${metrics} />
  </div>`;

/** @param {{metrics: any}} props */
function Backlog({ metrics }) {
  const t = useWords(overview);
  const language = useContext(Speech);
  const state = useNames(states);
  const { backlog } = metrics;
  const span = (/** @type {number | null} */ seconds) => (seconds === null ? null : duration(seconds, language));
  const figures = backlog && [
    ...LIVE.map((name) => live(name, backlog, { label: state(name), language })),
    {
      label: t("oldest_waiting"),
      value: span(metrics.oldest_waiting_seconds),
      to: jobOr(metrics.oldest_waiting_job_id, "accepted"),
    },
    { label: t("oldest_due"), value: span(metrics.oldest_due_seconds), to: DUE },
    {
      label: t("oldest_running"),
      value: span(metrics.oldest_running_seconds),
      to: jobOr(metrics.oldest_running_job_id, "running"),
    },
  ];
  return html`<${Card} title=${t("backlog")}>
    ${backlog ? html`<${Figures} figures=${figures} />` : html`<p class="refusal">${t("backlog_unknown")}</p>`}
    ${backlog && html`<${Waiting} metrics=${metrics} />`} ${backlog && html`<${LiveByKind} kinds=${backlog.by_kind} />`}
  <//>`;
}

/** @param {string} state @param {any} counts @param {{label: string, language: any, kind?: string}} how @returns {Figure} */
const live = (state, counts, { label, language, kind }) => {
  return { label, value: count(counts[state], language), to: href(["jobs"], { state, kind }) };
};

/** Which of those that wait could be taken now; and as of when, if it is not now. @param {{metrics: any}} props */
function Waiting({ metrics: { at, backlog } }) {
  const t = useWords(overview);
  const old = Date.parse(at) - Date.parse(backlog.at) > MINUTE_MS;
  const { ready, delayed } = backlog;
  if (ready + delayed === 0 && !old) return null;
  return html`<p class="hint">
    ${
      ready + delayed > 0 &&
      html`${t("of_waiting")} <a href=${DUE}>${t("ready", { count: ready })}</a>${" · "}
        <a href=${NOT_DUE}>${t("delayed", { count: delayed })}</a>`
    }${" "}
    ${old && html`${t("as_of")} <${When} time=${backlog.at} full />`}
  </p>`;
}

/** @param {{kinds: Record<string, any>}} props */
function LiveByKind({ kinds: counted }) {
  const t = useWords(overview);
  const language = useContext(Speech);
  const state = useNames(states);
  const columns = LIVE.map((name) => ({
    label: state(name),
    numeric: true,
    cell: (/** @type {any} */ row) => {
      const { value, to } = live(name, row.of, { label: name, language, kind: row.kind });
      return html`<${Counted} value=${value} to=${to} />`;
    },
  }));
  return html`<${ByKind} caption=${t("backlog")} counted=${counted} columns=${columns} />`;
}

/** @param {{caption: string, counted: Record<string, any>, columns: import("../parts/table.js").Column[]}} props */
function ByKind({ caption, counted, columns }) {
  const t = useWords(overview);
  const name = useNames(kinds);
  const rows = Object.entries(counted).map(([kind, of]) => ({ kind, of }));
  if (!rows.length) return null;
  const kind = {
    label: t("kind"),
    cell: (/** @type {any} */ row) => html`<span class="name">${name(row.kind)}</span>`,
  };
  return html`<details>
    <summary>${t("by_kind")}</summary>
    <${Table}
      caption=${caption}
      columns=${[kind, ...columns]}
      rows=${rows}
      id=${(/** @type {any} */ row) => row.kind}
    />
  </details>`;
}

/** @param {{metrics: any}} props */
function Letters({ metrics: { at, dead_letters: letters } }) {
  const t = useWords(overview);
  const language = useContext(Speech);
  const open = href(["dead-letters"], { status: "open" });
  const recent = { status: "all", failed_after: new Date(Date.parse(at) - HOUR_MS).toISOString() };
  const figure = (/** @type {string} */ label, /** @type {number} */ value, to = open) => {
    return { label, value: count(value, language), to };
  };
  return html`<${Card} title=${t("letters")}>
    <${Figures}
      figures=${[
        figure(t("open"), letters.open),
        figure(t("past_triage"), letters.past_triage, PAST_TRIAGE),
        figure(t("expiring"), letters.expiring, EXPIRING),
        figure(t("letters_hour"), letters.last_hour, href(["dead-letters", "list"], recent)),
      ]}
    />
  <//>`;
}

/** @param {{metrics: any}} props */
function Hour({ metrics: { at, last_hour: hour } }) {
  const t = useWords(overview);
  const figures = useHour(at);
  const unknown = hour.unknown_cost_attempts;
  // A row has no room for the medians.
  const labels = figures(hour, undefined).map(({ label }) => label);
  const columns = labels
    .filter((label) => label !== t("queue_p50") && label !== t("run_p50"))
    .map((label) => ({
      label,
      numeric: true,
      cell: (/** @type {any} */ row) => {
        const figure = figures(row.of, row.kind)[labels.indexOf(label)];
        return html`<${Counted} value=${figure?.value ?? null} to=${figure?.to ?? ""} />`;
      },
    }));
  return html`<${Card} title=${t("hour")}>
    <${Figures} figures=${figures(hour, undefined)} />
    <p class="hint">${t("quantiles_hint")} ${unknown > 0 && t("unknown_cost", { count: unknown })}</p>
    <${Classes} classes=${hour.failed_by_class} since=${hourBefore(at)} />
    <${ByKind} caption=${t("hour")} counted=${hour.by_kind} columns=${columns} />
  <//>`;
}

/** @param {string} at  the figures' own time @returns {(counted: any, kind: string | undefined) => Figure[]} */
function useHour(at) {
  const t = useWords(overview);
  const language = useContext(Speech);
  const state = useNames(states);
  const since = hourBefore(at);
  const today = at.slice(0, 10);
  const whole = (/** @type {number} */ value) => count(value, language);
  const share = (/** @type {number | null} */ value) => (value === null ? null : percent(value, language));
  const span = (/** @type {number | null} */ seconds) => (seconds === null ? null : duration(seconds, language));
  return (counted, kind) => {
    const ended = (/** @type {string} */ name) => href(["jobs"], { state: name, kind, finished_after: since });
    const used = href(["usage"], { kind, from: today, to: today });
    return [
      { label: t("accepted"), value: whole(counted.accepted), to: href(["jobs"], { kind, created_after: since }) },
      ...["succeeded", "failed", "canceled"].map((name) => {
        return { label: state(name), value: whole(counted[name]), to: ended(name) };
      }),
      { label: t("success_rate"), value: share(counted.success_rate), to: ended("") },
      { label: t("retry_rate"), value: share(counted.retry_rate), to: href(["jobs"], { state: "retrying", kind }) },
      { label: t("queue_p50"), value: span(counted.queue_seconds.p50), to: ended("") },
      { label: t("queue_p95"), value: span(counted.queue_seconds.p95), to: ended("") },
      { label: t("run_p50"), value: span(counted.run_seconds.p50), to: ended("") },
      { label: t("run_p95"), value: span(counted.run_seconds.p95), to: ended("") },
      { label: t("cost"), value: counted.cost_usd && money(counted.cost_usd), to: used },
      { label: t("failed_cost"), value: counted.failed_cost_usd && money(counted.failed_cost_usd), to: used },
    ];
  };
}

/** @param {{classes: Record<string, number>, since: string}} props */
function Classes({ classes, since }) {
  const t = useWords(overview);
  const language = useContext(Speech);
  const called = useNames(classNames);
  const found = Object.entries(classes);
  if (!found.length) return null;
  return html`<p>
    ${t("failed_by")}:${" "}
    ${found.map(
      ([name, amount], index) =>
        html`${index > 0 && " · "}<a
            key=${name}
            href=${href(["dead-letters", "list"], { status: "all", class: name, failed_after: since })}
          >
            ${called(name)} ${count(amount, language)}
          </a>`,
    )}
  </p>`;
}
