// @ts-check
/** What happened to a job, as a list in time. */

import { useContext, useEffect, useRef } from "preact/hooks";

import { segment } from "../api.js";
import { duration, fullTime, money } from "../format.js";
import { html } from "../html.js";
import { Card } from "../parts/card.js";
import { Chip, StateChip } from "../parts/chip.js";
import { Failure } from "../parts/failure.js";
import { Facts } from "../parts/facts.js";
import { Loading } from "../parts/loading.js";
import { useNow } from "../parts/now.js";
import { Problem } from "../parts/problem.js";
import { When } from "../parts/when.js";
import { usePolled } from "../poll.js";
import { Speech, useNames, useWords } from "../words.js";
import { job as words } from "../words/job.js";
import { classes, ends } from "../words/names.js";
import { lifeOf } from "./life.js";

/** @typedef {import("./life.js").Stretch} Stretch */
/** @typedef {import("../parts/chip.js").Tone} Tone */

/** @type {Record<string, Tone>} */
const TONES = { succeeded: "good", failed: "bad", retrying: "warn", deferred: "warn", running: "warn" };

/** @param {{job: any}} props */
export function Timeline({ job }) {
  const t = useWords(words);
  const events = usePolled(`/v1/jobs/${segment(job.id)}/events`, { every: 0 });
  // Progress makes no event. What else changes may have.
  const mark = JSON.stringify({ ...job, progress: null });
  const asked = useRef(mark);
  useEffect(() => {
    if (asked.current !== mark) events.refresh();
    asked.current = mark;
  }, [mark]);
  return html`<${Card} title=${t("life")}>
    ${events.error && html`<${Problem} error=${events.error} retry=${events.refresh} />`}
    ${
      events.data
        ? html`<ol class="timeline">
            ${lifeOf(job, events.data.items).map(
              (stretch) => html`<${Told} key=${stretch.what + stretch.from} job=${job} stretch=${stretch} />`,
            )}
          </ol>`
        : !events.error && html`<${Loading} />`
    }
  <//>`;
}

/** @param {{job: any, stretch: Stretch}} props */
function Told({ job, stretch }) {
  const t = useWords(words);
  const { what, from } = stretch;
  if (what === "attempt") return html`<${Attempt} stretch=${stretch} />`;
  if (what === "wait") return html`<${Wait} job=${job} stretch=${stretch} />`;
  const name =
    what === "end" ? html`<b>${t("finished")}</b> <${StateChip} state=${job.state} />` : html`<b>${t(what)}</b>`;
  return html`<li class=${what === "end" ? toneOf(job.state) : ""}>
    <p class="told">${name}</p>
    <p class="at"><${When} time=${from} full /></p>
  </li>`;
}

/** @param {string | undefined} ending @returns {Tone} */
const toneOf = (ending) => (ending === undefined ? "busy" : (TONES[ending] ?? "neutral"));

/** @param {{job: any, stretch: Stretch}} props */
function Wait({ job, stretch: { from, to, ending } }) {
  const t = useWords(words);
  const language = useContext(Speech);
  const now = useNow();
  const seconds = Math.floor((Math.max(to ? Date.parse(to) : now, Date.parse(from)) - Date.parse(from)) / 1000);
  const told = t(to ? "waited" : "waiting", { span: duration(seconds, language), what: t(awaited(ending)) });
  const until = !to && job.next_attempt_at && t("waits_for", { time: fullTime(job.next_attempt_at, language) });
  return html`<li class="wait">
    <p class="soft">${until ? `${told} · ${until}` : told}</p>
  </li>`;
}

/** What one waits for after that ending, if any. @param {import("./life.js").Happening | undefined} ending */
function awaited(ending) {
  if (!ending) return "for_turn";
  return ending.class === "throttled" || ending.class === "quota" ? "for_provider" : "for_retry";
}

/** @param {{stretch: Stretch}} props */
function Attempt({ stretch: { from, number, ending } }) {
  const t = useWords(words);
  const [end, reason] = [useNames(ends), useNames(classes)];
  return html`<li class=${toneOf(ending?.type)}>
    <p class="told">
      <b>${t("attempt", { number: number ?? "?" })}</b>
      ${ending && html`<${Chip} tone=${TONES[ending.type]}>${end(ending.type)}<//>`}
      ${ending?.class && html`<span>${reason(ending.class)}</span>`}
    </p>
    <p class="at">
      <${When} time=${from} full />${" · "}
      ${ending ? html`<${Lasted} ending=${ending} />` : html`<${Ongoing} from=${from} />`}
    </p>
    ${ending && html`<${Evidence} ending=${ending} />`}
  </li>`;
}

/** @param {{ending: import("./life.js").Happening}} props */
function Lasted({ ending: { duration_ms: whole, provider_ms: called } }) {
  const t = useWords(words);
  const language = useContext(Speech);
  const told = [
    whole !== null && t("lasted", { span: brief(whole, language) }),
    called !== null && t("provider_time", { span: brief(called, language) }),
  ];
  return told.filter(Boolean).join(t("comma"));
}

/** @param {{ending: import("./life.js").Happening}} props */
function Evidence({ ending }) {
  const t = useWords(words);
  const code = (/** @type {string | null} */ text) => text && html`<code>${text}</code>`;
  return html`${ending.code && html`<${Failure} failure=${ending} />`}
    <${Facts}
      facts=${[
        [t("provider"), ending.provider],
        [t("model"), ending.model],
        [t("provider_request"), code(ending.provider_request_id)],
        [t("cost"), ending.cost_usd && money(ending.cost_usd)],
      ]}
    />`;
}

/** @param {{from: string}} props */
function Ongoing({ from }) {
  const t = useWords(words);
  const language = useContext(Speech);
  const seconds = Math.max(0, Math.floor((useNow() - Date.parse(from)) / 1000));
  return t("ongoing", { span: duration(seconds, language) });
}

/** Nothing that took time took none. @param {number} ms @param {import("../session.js").Language} language */
function brief(ms, language) {
  if (ms === 0 || ms >= 100) return duration(ms / 1000, language);
  return new Intl.NumberFormat(language, { style: "unit", unit: "millisecond", unitDisplay: "short" }).format(ms);
}
