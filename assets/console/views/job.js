// @ts-check
/** One job: the page follows the id in its URL, and nothing else. */

import { segment } from "../api.js";
import { useCaller } from "../caller.js";
import { html } from "../html.js";
import { StateChip } from "../parts/chip.js";
import { Id } from "../parts/id.js";
import { Loading } from "../parts/loading.js";
import { Page } from "../parts/page.js";
import { Problem } from "../parts/problem.js";
import { usePolled } from "../poll.js";
import { Result } from "../results/result.js";
import { isOperator } from "../session.js";
import { useNames, useWords } from "../words.js";
import { job as words } from "../words/job.js";
import { kinds } from "../words/names.js";

const SLOWEST_SECONDS = 10;

/** @param {import("../pages.js").ViewProps} props */
export default function Job({ params }) {
  const t = useWords(words);
  const kind = useNames(kinds);
  const polled = usePolled(`/v1/jobs/${segment(params.id ?? "")}`, {
    every: 1,
    slowest: SLOWEST_SECONDS,
    until: (job) => job.terminal,
  });
  const job = polled.data;
  const title = job ? kind(job.kind) : t("title");
  return html`<${Page} title=${title} polled=${job && polled}>
    ${!job && (polled.error ? html`<${Problem} error=${polled.error} retry=${polled.refresh} />` : html`<${Loading} />`)}
    ${job && html`<${Life} job=${job} />`}
  <//>`;
}

/** @param {{job: any}} props */
function Life({ job }) {
  const t = useWords(words);
  const operator = isOperator(useCaller());
  return html`<p><${StateChip} state=${job.state} /> <${Id} id=${job.id} whole /></p>
    ${job.progress && !job.terminal && html`<${Progress} progress=${job.progress} />`}
    ${
      job.state === "succeeded" &&
      !operator &&
      html`<section class="card">
        <h2>${t("result")}</h2>
        <${Result} job=${job} />
      </section>`
    }`;
}

/** @param {{progress: {done: number, total: number}}} props */
function Progress({ progress: { done, total } }) {
  const t = useWords(words);
  return html`<p>
    <progress aria-label=${t("progress")} value=${done} max=${total}></progress> ${t("done_of", { done, total })}
  </p>`;
}
