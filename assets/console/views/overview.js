// @ts-check
/** How the deployment does: what needs a person first, then the figures, then the charts. */

import { pathWith } from "../api.js";
import { isolated } from "../format.js";
import { html } from "../html.js";
import { Page } from "../parts/page.js";
import { usePolled } from "../poll.js";
import { useWords } from "../words.js";
import { overview } from "../words/overview.js";
import { Charts, RANGES } from "../overview/charts.js";
import { KeyFigures } from "../overview/figures.js";
import { Needs } from "../overview/needs.js";

const EVERY_SECONDS = 10;
/** Calm is claimed only as long as it was checked a moment ago: no slower than this. */
const SLOWEST_SECONDS = 30;
/** A point of a week is an hour; the last one grows, and is not told for so long as it once was. */
const LONGEST_SECONDS = 120;
const POLLED = { every: EVERY_SECONDS, slowest: SLOWEST_SECONDS };

export const parameters = ["range"];

/** @param {import("../pages.js").ViewProps} props */
export default function Overview({ query }) {
  const t = useWords(overview);
  const asked = query.get("range") ?? "";
  const range = Object.hasOwn(RANGES, asked) ? asked : "hour";
  const metrics = usePolled("/v1/metrics", POLLED);
  const alerts = usePolled("/v1/alerts", POLLED);
  const series = usePolled(pathWith("/v1/metrics/series", { range }), {
    every: Math.min(RANGES[range] ?? 0, LONGEST_SECONDS),
    slowest: LONGEST_SECONDS,
  });
  const refresh = () => [metrics, alerts, series].forEach((each) => each.refresh());
  return html`<${Page} title=${t("title")} polled=${{ ...metrics, refresh }}>
    <${Needs} metrics=${metrics} alerts=${alerts} />
    ${metrics.data && html`<${KeyFigures} metrics=${metrics.data} />`}
    ${asked && asked !== range && html`<p class="notice" role="status">${t("no_range", { range: isolated(asked) })}</p>`}
    <${Charts} range=${range} series=${series} />
  <//>`;
}
