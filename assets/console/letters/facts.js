// @ts-check
/** What is known of a dead letter, card by card. */

import { useContext } from "preact/hooks";

import { duration, money } from "../format.js";
import { html } from "../html.js";
import { Facts } from "../parts/facts.js";
import { useFailure } from "../parts/failure.js";
import { Cause } from "../parts/cause.js";
import { Id } from "../parts/id.js";
import { Empty } from "../parts/loading.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { Speech, useNames, useWords } from "../words.js";
import { letters } from "../words/letters.js";
import { kinds, outcomes, roads } from "../words/names.js";
import { shell } from "../words/shell.js";
import { Due, isOfAJob, Kept, useAdvice } from "./status.js";

/** The API's own sentence, for which there are no words in another language. @param {{text: string}} props */
const Said = ({ text }) => html`<span lang="en">${text}</span>`;

/** What most likely helps, whether it may be done, and until when. @param {{letter: any}} props */
export function Triage({ letter }) {
  const t = useWords(letters);
  const s = useWords(shell);
  const ofAJob = isOfAJob(letter);
  const { replayable, replayable_reason: why } = letter;
  return html`<section class="card" aria-label=${t("todo")}>
    <h2>${useAdvice()(letter)}</h2>
    <${Facts}
      facts=${[
        [t("replayable"), html`<b>${s(replayable ? "yes" : "no")}</b><br /><${Said} text=${why} />`],
        [t("triage"), html`<${Due} letter=${letter} />`],
        [t("kept"), ofAJob ? html`<${Kept} letter=${letter} />` : null],
        [t("redrive_count"), ofAJob ? letter.redrive_count : null],
      ]}
    />
  </section>`;
}

/** Who decided what, and why. @param {{letter: any}} props */
export function Resolution({ letter }) {
  const t = useWords(letters);
  const s = useWords(shell);
  const { redriven_to: job, redrive_id: bulk } = letter;
  return html`<section class="card" aria-label=${t("resolved")}>
    <h2>${t("resolved")}</h2>
    <${Facts}
      facts=${[
        [t("new_job"), job && html`<${Id} id=${job} to=${href(["jobs", job])} />`],
        [s("reason"), letter.reason],
        [t("resolved_at"), html`<${When} time=${letter.resolved_at} full />`],
        [t("resolved_by"), html`<code>${letter.resolved_by}</code>`],
        [t("bulk_redrive"), bulk && html`<${Id} id=${bulk} to=${href(["redrives", bulk])} />`],
        [t("redrive_count"), letter.redrive_count],
      ]}
    />
  </section>`;
}

/** What went wrong, with whose work. @param {{letter: any}} props */
export function Story({ letter }) {
  const t = useWords(letters);
  const s = useWords(shell);
  const [road, kind] = [useNames(roads), useNames(kinds)];
  const told = useFailure()(letter);
  const same = href(["dead-letters", "list"], { fingerprint: letter.fingerprint });
  return html`<section class="card" aria-label=${t("what_failed")}>
    <h2><${Cause} of=${{ class: letter.class, code: letter.code }} /></h2>
    <p>${told}</p>
    <${Facts}
      facts=${[
        [t("road"), road(letter.road)],
        [t("job"), html`<${JobOf} letter=${letter} />`],
        [t("kind"), letter.kind && kind(letter.kind)],
        [s("tenant"), letter.tenant_id],
        [t("model"), letter.model && html`<code>${letter.model}</code>`],
        [t("attempts"), letter.attempts],
        [t("last"), html`<${When} time=${letter.last_failed_at} full />`],
        [t("first"), html`<${When} time=${letter.first_failed_at} full />`],
        [t("fingerprint"), html`<code>${letter.fingerprint}</code> <a class="more-link" href=${same}>${t("same")}</a>`],
      ]}
    />
  </section>`;
}

/** @param {{letter: any}} props */
function JobOf({ letter }) {
  const t = useWords(letters);
  const id = letter.job_id;
  if (id === null) return html`<span class="none">${t("no_job")}</span>`;
  if (letter.links.job !== null) return html`<${Id} id=${id} to=${href(["jobs", id])} />`;
  return html`<${Id} id=${id} /> <span class="none">${t("job_gone")}</span>`;
}

/** Each attempt with its evidence. @param {{letter: any}} props */
export function History({ letter }) {
  const t = useWords(letters);
  const outcome = useNames(outcomes);
  const rows = letter.attempts_history;
  return html`<section class="stack">
    <h2>${t("history")}</h2>
    ${rows.length === 0 && html`<${Empty}>${t("no_history")}<//>`}
    ${
      rows.length > 0 &&
      html`<${Table}
        caption=${t("history")}
        rows=${rows}
        id=${(/** @type {any} */ row) => row.number}
        columns=${[
          { label: t("number"), numeric: true, cell: (/** @type {any} */ row) => row.number },
          { label: t("outcome"), cell: (/** @type {any} */ row) => outcome(row.outcome) },
          { label: t("what"), cell: (/** @type {any} */ row) => html`<${Evidence} attempt=${row} />` },
          { label: t("started"), cell: (/** @type {any} */ row) => html`<${When} time=${row.started_at} full />` },
          { label: t("took"), cell: (/** @type {any} */ row) => html`<${Took} attempt=${row} />` },
          { label: t("provider"), cell: (/** @type {any} */ row) => html`<${Asked} attempt=${row} />` },
          { label: t("cost"), numeric: true, cell: (/** @type {any} */ row) => money(row.cost_usd) },
        ]}
      />`
    }
  </section>`;
}

/** @param {{attempt: any}} props */
function Evidence({ attempt }) {
  const told = useFailure();
  if (attempt.class === null) return html`<span class="none">–</span>`;
  return html`<div class="evidence">
    <${Cause} of=${{ class: attempt.class, code: attempt.code }} />
    <p>${told(attempt)}</p>
  </div>`;
}

/** @param {{attempt: any}} props */
function Took({ attempt }) {
  const t = useWords(letters);
  const language = useContext(Speech);
  const seconds = (new Date(attempt.ended_at).getTime() - new Date(attempt.started_at).getTime()) / 1000;
  const asked = attempt.provider_seconds;
  return html`<div class="evidence">
    <span>${duration(seconds, language)}</span>
    ${asked > 0 && html`<span class="none">${t("at_provider", { time: duration(asked, language) })}</span>`}
  </div>`;
}

/** Who was asked, and under which name they know it. @param {{attempt: any}} props */
function Asked({ attempt }) {
  const told = [attempt.provider, attempt.model, attempt.provider_request_id].filter(Boolean);
  if (told.length === 0) return html`<span class="none">–</span>`;
  return html`<div class="evidence">${told.map((text) => html`<code key=${text}>${text}</code>`)}</div>`;
}

/** Which message brought it; of one that is no job's, all that is kept of it. @param {{letter: any}} props */
export function Message({ letter }) {
  const t = useWords(letters);
  const { body } = letter;
  return html`<section class="card" aria-label=${t("message")}>
    <h2>${t("message")}</h2>
    <${Facts}
      facts=${[
        [t("queue"), letter.queue],
        [t("message_id"), letter.message_id && html`<code>${letter.message_id}</code>`],
        [t("schema"), letter.schema_version],
        [t("sha256"), body && html`<code>${body.sha256}</code>`],
      ]}
    />
    ${
      body?.shape != null &&
      html`<h3>${t("shape")}</h3>
        <pre tabindex="0" aria-label=${t("shape")}>${JSON.stringify(body.shape, null, 2)}</pre>`
    }
  </section>`;
}
