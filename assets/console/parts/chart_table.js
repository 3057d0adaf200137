// @ts-check
/** The numbers of a chart, newest first; each leads to the jobs that it counts. */

import { html } from "../html.js";
import { useWords } from "../words.js";
import { charts } from "../words/charts.js";
import { spanOf, useMoment } from "./chart.js";
import { Table } from "./table.js";

/** @param {{subject: import("./chart.js").Subject, points: any[], step: number, jobs: (from: string, to: string) => string}} props */
export function ChartTable({ subject, points, step, jobs }) {
  const t = useWords(charts);
  const moment = useMoment(step);
  const time = {
    label: t("time"),
    cell: (/** @type {any} */ point) => html`<a href=${jobs(...spanOf(point, step))}>${moment(point.at)}</a>`,
  };
  const lines = subject.lines.map((line) => ({
    label: line.label,
    numeric: true,
    cell: (/** @type {any} */ point) => {
      const value = line.value(point);
      if (value === null) return t("unknown");
      const text = subject.show(value);
      return line.list ? html`<a href=${line.list(...spanOf(point, step))}>${text}</a>` : text;
    },
  }));
  return html`<div class="chart-table" role="region" tabindex="0" aria-label=${subject.title}>
    <${Table}
      caption=${subject.title}
      columns=${[time, ...lines]}
      rows=${points.toReversed()}
      id=${(/** @type {any} */ point) => point.at}
    />
  </div>`;
}
