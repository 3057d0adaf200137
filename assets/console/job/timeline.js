// @ts-check
/** What happened to a job, as a list in time. */

import { useContext, useEffect, useRef } from "preact/hooks";

import { segment } from "../api.js";
import { duration, fullTime, money } from "../format.js";
import { html } from "../html.js";
import { Card } from "../parts/card.js";
import { Chip, StateChip } from "../parts/chip.js";
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
  const tone = what === "end" ? (TONES[job.state] ?? "neutral") : what === "attempt" ? toneOf(stretch) : "neutral";
  return html`<li class="${what} ${tone}">
    ${what === "accepted" && html`<b>${t("accepted")}</b>`} ${what === "wish" && html`<b>${t("wished")}</b>`}
    ${what === "wait" && html`<${Wait} job=${job} stretch=${stretch} />`}
    ${what === "attempt" && html`<${Attempt} stretch=${stretch} />`} ${what === "end" && html`<${End} job=${job} />`}
    ${what !== "wait" && html`<p class="at"><${When} time=${from} full /></p>`}
    ${what === "attempt" && html`<${Evidence} stretch=${stretch} />`}
  </li>`;
}

/** @param {Stretch} stretch @returns {Tone} */
const toneOf = ({ ending }) => (ending ? (TONES[ending.type] ?? "neutral") : "busy");

/** @param {{job: any, stretch: Stretch}} props */
function Wait({ job, stretch: { from, to, ending } }) {
  const t = useWords(words);
  const language = useContext(Speech);
  const now = useNow();
  const ms = (to ? Date.parse(to) : Math.max(now, Date.parse(from))) - Date.parse(from);
  const span = duration(to ? ms / 1000 : Math.floor(ms / 1000), language);
  return html`<span class="soft">${t(to ? "waited" : "waiting", { span })}</span>
    ${!to && job.next_attempt_at && html`<p class="at">${t("waits_for", { time: fullTime(job.next_attempt_at, language) })}</p>`}
    ${ending?.type === "deferred" && ending.message && html`<p class="at">${ending.message}</p>`}`;
}

/** @param {{stretch: Stretch}} props */
function Attempt({ stretch: { number, ending } }) {
  const t = useWords(words);
  const [end, reason] = [useNames(ends), useNames(classes)];
  return html`<b>${t("attempt", { number: number ?? "?" })}</b> ${
      ending && html`<${Chip} tone=${TONES[ending.type]}>${end(ending.type)}<//>`
    }
    ${ending?.class && html`<span>${reason(ending.class)}</span>`}`;
}

/** @param {{stretch: Stretch}} props */
function Evidence({ stretch: { from, to, ending } }) {
  const t = useWords(words);
  const language = useContext(Speech);
  if (!ending) return html`<${Ongoing} from=${from} />`;
  const lasted = ending.duration_ms ?? (to ? Date.parse(to) - Date.parse(from) : null);
  const spans = [
    lasted !== null && t("lasted", { span: duration(lasted / 1000, language) }),
    ending.provider_ms !== null && t("provider_time", { span: duration(ending.provider_ms / 1000, language) }),
  ];
  return html`<p class="at">${spans.filter(Boolean).join(", ")}</p>
    ${ending.message && html`<p>${ending.message}</p>`}
    <${Facts}
      facts=${[
        [t("code"), ending.code && html`<code>${ending.code}</code>`],
        [t("provider"), ending.provider],
        [t("model"), ending.model],
        [t("provider_request"), ending.provider_request_id && html`<code>${ending.provider_request_id}</code>`],
        [t("cost"), ending.cost_usd && money(ending.cost_usd)],
      ]}
    />`;
}

/** @param {{from: string}} props */
function Ongoing({ from }) {
  const t = useWords(words);
  const language = useContext(Speech);
  const seconds = Math.max(0, Math.floor((useNow() - Date.parse(from)) / 1000));
  return html`<p class="at">${t("ongoing", { span: duration(seconds, language) })}</p>`;
}

/** @param {{job: any}} props */
function End({ job }) {
  const reason = useNames(classes);
  return html`<${StateChip} state=${job.state} /> ${job.error && html`<span>${reason(job.error.class)}</span>`}`;
}
