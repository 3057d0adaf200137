// @ts-check
/** The list of jobs, newest first. */

import { pathWith } from "../api.js";
import { useCaller } from "../caller.js";
import { html } from "../html.js";
import { Counts, waits } from "../job/counts.js";
import { JobTable } from "../job/table.js";
import { Choice, Filters, Text } from "../parts/filters.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Window } from "../parts/window.js";
import { isOperator } from "../session.js";
import { useNames, useWords } from "../words.js";
import { jobs } from "../words/jobs.js";
import { kinds, states } from "../words/names.js";
import { shell } from "../words/shell.js";

const TIMES = ["created_after", "created_before", "finished_after", "finished_before"];
export const parameters = ["state", "kind", "run_key", "tenant", "due", ...TIMES];

/** @param {import("../pages.js").ViewProps} props */
export default function Jobs({ query }) {
  const t = useWords(jobs);
  const meant = waits(query) ? parameters : parameters.filter((name) => name !== "due");
  const asked = Object.fromEntries(meant.map((name) => [name, query.get(name)]));
  const pages = usePages(pathWith("/v1/jobs", asked));
  return html`<${Page} title=${t("title")} polled=${pages.polled}>
    <${Counts} query=${query} />
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
  const operator = isOperator(useCaller());
  const due = ["true", "false"].map((value) => [value, t(value === "true" ? "due" : "not_due")]);
  return html`<${Filters} names=${parameters} query=${query}>
    <${Choice} label=${t("state")} name="state" query=${query} options=${useOptions(states)} />
    ${waits(query) && html`<${Choice} label=${t("waits")} name="due" query=${query} options=${due} />`}
    <${Choice} label=${t("kind")} name="kind" query=${query} options=${useOptions(kinds)} />
    <${Text} label=${t("run_key")} name="run_key" query=${query} />
    ${operator && html`<${Text} label=${s("tenant")} name="tenant" query=${query} />`}
    <${Times} query=${query} />
  <//>`;
}

/** @param {typeof states | typeof kinds} words @returns {[string, string][]} */
function useOptions(words) {
  const name = useNames(words);
  return Object.keys(words.en).map((each) => [each, name(each)]);
}

/** Folded away until they are wanted, or set. @param {{query: URLSearchParams}} props */
function Times({ query }) {
  const t = useWords(jobs);
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return html`<details class="times" open=${TIMES.some((name) => query.has(name))}>
    <summary>${t("times")}</summary>
    <div class="windows">
      <${Window} label=${t("created")} name="created" query=${query} />
      <${Window} label=${t("finished")} name="finished" query=${query} />
    </div>
    <p class="hint">${t("zone", { zone: timeZone })}</p>
  </details>`;
}
