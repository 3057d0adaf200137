// @ts-check
/** How the deployment did over time. */

import { useContext, useMemo, useState } from "preact/hooks";

import { count, duration, money, percent, relativeTime } from "../format.js";
import { html } from "../html.js";
import { Chart } from "../parts/chart.js";
import { Problem } from "../parts/problem.js";
import { href, setQuery } from "../router.js";
import { Speech, useWords } from "../words.js";
import { charts } from "../words/charts.js";

/** @typedef {import("../parts/chart.js").Subject} Subject */
/** @typedef {import("../session.js").Language} Language */
/** @typedef {(name: keyof typeof charts.en) => string} Say */

/** Each range with the seconds that a point of it is. @type {Record<string, number>} */
export const RANGES = { hour: 60, day: 900, week: 3600 };
const SOLID = /** @type {number[]} */ ([]);
const DASHED = [8, 4];
const DOTTED = [2, 3];

/** @param {{range: string, series: import("../poll.js").Polled}} props */
export function Charts({ range, series }) {
  const t = useWords(charts);
  const subjects = useSubjects();
  const [at, setAt] = useState(/** @type {number | null} */ (null));
  const step = RANGES[range] ?? 60;
  const stretch = { points: series.data?.points, step };
  const failed = series.error && !series.data;
  return html`<section class="over-time" aria-labelledby="over-time">
    <div class="section-head">
      <h2 id="over-time">${t("title")}</h2>
      <${Ranges} range=${range} />
    </div>
    <${Freshness} series=${series} step=${step} />
    ${
      failed
        ? html`<${Problem} error=${series.error} retry=${series.refresh} />`
        : html`<div class="charts">
            ${subjects.map(
              (subject) =>
                html`<${Chart}
                  key=${subject.title}
                  subject=${subject}
                  stretch=${stretch}
                  at=${at}
                  onAt=${setAt}
                  jobs=${ended}
                />`,
            )}
          </div>`
    }
  </section>`;
}

/** @param {{range: string}} props */
function Ranges({ range }) {
  const t = useWords(charts);
  return html`<div class="ranges" role="group" aria-label=${t("range")}>
    ${Object.keys(RANGES).map(
      (name) =>
        html`<button key=${name} aria-pressed=${name === range} onClick=${() => setQuery({ range: name })}>
          ${t(/** @type {"hour" | "day" | "week"} */ (name))}
        </button>`,
    )}
  </div>`;
}

/** @param {{series: import("../poll.js").Polled, step: number}} props */
function Freshness({ series, step }) {
  const t = useWords(charts);
  const language = useContext(Speech);
  if (series.error && series.at !== null)
    return html`<p class="stale" role="status">${t("stale", { ago: relativeTime(series.at, language) })}</p>`;
  return html`<p class="hint">${t("each", { count: step / 60 })}</p>`;
}

/** @param {string} from @param {string} to */
const ended = (from, to) => href(["jobs"], { finished_after: from, finished_before: to });

/** @param {string} state */
const endedAs = (state) => (/** @type {string} */ from, /** @type {string} */ to) =>
  href(["jobs"], { state, finished_after: from, finished_before: to });

/** @param {string} from @param {string} to */
const begun = (from, to) => href(["jobs"], { created_after: from, created_before: to });

/** @param {string | null} usd */
const dollars = (usd) => (usd === null ? null : Number(usd));

/** What each chart shows. @returns {Subject[]} */
function useSubjects() {
  const t = useWords(charts);
  const language = useContext(Speech);
  return useMemo(() => [...amounts(t, language), ...qualities(t, language)], [language]);
}

/** @param {Say} t @param {Language} language @returns {Subject[]} */
function amounts(t, language) {
  const oldest = {
    label: t("oldest"),
    tone: "--warn",
    dash: SOLID,
    value: (/** @type {any} */ point) => point.waiting_seconds,
  };
  return [
    {
      title: t("throughput"),
      unit: "count",
      total: true,
      show: (value) => count(value, language),
      lines: [
        { label: t("accepted"), tone: "--accent", dash: SOLID, value: (point) => point.accepted, list: begun },
        {
          label: t("succeeded"),
          tone: "--good",
          dash: DASHED,
          value: (point) => point.succeeded,
          list: endedAs("succeeded"),
        },
        { label: t("failed"), tone: "--bad", dash: DOTTED, value: (point) => point.failed, list: endedAs("failed") },
      ],
    },
    { title: t("waiting"), unit: "seconds", show: (value) => duration(value, language), lines: [oldest] },
  ];
}

/** @param {Say} t @param {Language} language @returns {Subject[]} */
function qualities(t, language) {
  const run = {
    label: t("run_p95"),
    tone: "--accent",
    dash: SOLID,
    value: (/** @type {any} */ point) => point.run_seconds_p95,
  };
  return [
    {
      title: t("rates"),
      unit: "share",
      show: (value) => percent(value, language),
      lines: [
        { label: t("success_rate"), tone: "--good", dash: SOLID, value: (point) => point.success_rate, worst: "low" },
        { label: t("retry_rate"), tone: "--warn", dash: DASHED, value: (point) => point.retry_rate },
      ],
    },
    { title: t("run"), unit: "seconds", show: (value) => duration(value, language), lines: [run] },
    {
      title: t("cost"),
      unit: "usd",
      total: true,
      show: (value) => money(value.toFixed(6)),
      lines: [
        { label: t("spent"), tone: "--accent", dash: SOLID, value: (point) => dollars(point.cost_usd) },
        { label: t("failed_cost"), tone: "--bad", dash: DASHED, value: (point) => dollars(point.failed_cost_usd) },
      ],
    },
  ];
}
