// @ts-check
/** One job: the page follows the id in its URL, and nothing else. */

import { useContext } from "preact/hooks";

import { segment } from "../api.js";
import { useCaller } from "../caller.js";
import { percent } from "../format.js";
import { html } from "../html.js";
import { Cancel } from "../job/cancel.js";
import { About, Metadata, Times, Used } from "../job/facts.js";
import { Standing } from "../job/standing.js";
import { Timeline } from "../job/timeline.js";
import { Card } from "../parts/card.js";
import { Id } from "../parts/id.js";
import { Loading } from "../parts/loading.js";
import { Page } from "../parts/page.js";
import { Problem } from "../parts/problem.js";
import { When } from "../parts/when.js";
import { usePolled } from "../poll.js";
import { Result } from "../results/result.js";
import { isOperator, mayWrite } from "../session.js";
import { Speech, useNames, useWords } from "../words.js";
import { job as words } from "../words/job.js";
import { kinds } from "../words/names.js";

const SLOWEST_SECONDS = 10;
/** What a tab among many says first. @type {Record<string, string>} */
const MARKS = { accepted: "…", running: "▶", retrying: "↻", succeeded: "✓", failed: "✕", canceled: "–" };

/** @param {import("../pages.js").ViewProps} props */
export default function Job({ params: { id = "" } }) {
  const kind = useNames(kinds);
  const language = useContext(Speech);
  const caller = useCaller();
  const polled = usePolled(`/v1/jobs/${segment(id)}`, {
    every: 1,
    slowest: SLOWEST_SECONDS,
    until: (job) => job.terminal,
  });
  const job = polled.data;
  if (!job) return html`<${Missing} id=${id} polled=${polled} />`;
  const title = kind(job.kind);
  const actions = mayWrite(caller) && html`<${Cancel} job=${job} refresh=${polled.refresh} />`;
  return html`<${Page} title=${title} tab=${`${markOf(job, language)} ${title}`} polled=${polled} actions=${actions}>
    <${Gone} polled=${polled} />
    <div class="job">
      <${Standing} job=${job} />
      <div class="story">
        ${job.state === "succeeded" && html`<${Outcome} job=${job} />`}
        <${Timeline} job=${job} />
      </div>
      <div class="facts-aside">
        <${About} job=${job} /><${Used} job=${job} /><${Times} job=${job} /><${Metadata} job=${job} />
      </div>
    </div>
  <//>`;
}

/** @param {any} job @param {import("../session.js").Language} language */
function markOf({ state, progress }, language) {
  if (state !== "running" || !progress?.total) return MARKS[state] ?? "?";
  return percent(Math.floor((100 * progress.done) / progress.total) / 100, language);
}

/** Nothing is known of it: not yet, or not at all. @param {{id: string, polled: import("../poll.js").Polled}} props */
function Missing({ id, polled: { error, refresh } }) {
  const t = useWords(words);
  if (error?.status !== 404)
    return html`<${Page} title=${t("title")}>
      ${error ? html`<${Problem} error=${error} retry=${refresh} />` : html`<${Loading} />`}
    <//>`;
  return html`<${Page} title=${t("missing_title")}>
    <p><${Id} id=${id} whole /></p>
    <p>${t("missing")}</p>
  <//>`;
}

/** It was there, and is no more; how fresh the page is tells it to those who listen. @param {{polled: import("../poll.js").Polled}} props */
function Gone({ polled: { error } }) {
  const t = useWords(words);
  return error?.status === 404 && html`<p class="notice">${t("gone")}</p>`;
}

/** What came of it. @param {{job: any}} props */
function Outcome({ job }) {
  const t = useWords(words);
  const operator = isOperator(useCaller());
  return html`<${Card} title=${t("result")}>
    ${
      job.erased_at
        ? html`<p>${t("erased_at")}: <${When} time=${job.erased_at} full /></p>`
        : operator
          ? html`<p class="empty">${t("result_hidden")}</p>`
          : html`<${Result} job=${job} />`
    }
  <//>`;
}
