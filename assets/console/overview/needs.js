// @ts-check
/** What needs a person, first of all; or that nothing does, but only where that is known. */

import { useContext } from "preact/hooks";

import { fullTime, relativeTime } from "../format.js";
import { html } from "../html.js";
import { Chip } from "../parts/chip.js";
import { Loading } from "../parts/loading.js";
import { measure } from "../parts/measure.js";
import { useNow } from "../parts/now.js";
import { Problem } from "../parts/problem.js";
import { href } from "../router.js";
import { Speech, useNames, useWords } from "../words.js";
import { attention, sentences } from "../words/attention.js";
import { conditions, deliveryFaults } from "../words/names.js";
import { doubtsOf, needsOf } from "./attention.js";

/** @typedef {import("../poll.js").Polled} Polled */
/** @typedef {{key: string, text: string, to?: string}} Unsure */

/** A page that slept, or a poll that hangs: what was fetched so long ago shows no calm. */
const ASLEEP_SECONDS = 120;
const LONGEST_NAME = 80;
const TONES = /** @type {const} */ ({ now: "bad", soon: "warn", later: "neutral" });

/** @param {{metrics: Polled, alerts: Polled}} props */
export function Needs({ metrics, alerts }) {
  const t = useWords(attention);
  return html`<section class="needs" aria-labelledby="needs">
    <h2 id="needs">${t("title")}</h2>
    ${metrics.data ? html`<${Known} metrics=${metrics} alerts=${alerts} />` : html`<${Unknown} metrics=${metrics} />`}
  </section>`;
}

/** @param {{metrics: Polled}} props */
function Unknown({ metrics }) {
  const t = useWords(attention);
  if (!metrics.error) return html`<${Loading} />`;
  return html`
    <p class="refusal">${t("metrics_failed")}</p>
    <${Problem} error=${metrics.error} retry=${metrics.refresh} />
  `;
}

/** @param {{metrics: Polled, alerts: Polled}} props */
function Known({ metrics, alerts }) {
  const t = useWords(attention);
  const unsure = useUnsure(metrics, alerts);
  const needs = needsOf(metrics.data, alerts.data?.items ?? []);
  const asking = !alerts.data && !alerts.error;
  const found = needs.length + unsure.length;
  return html`
    <p class="unseen" role="status">${found ? t("found", { count: found }) : asking ? "" : t("calm")}</p>
    ${
      found > 0 &&
      html`<ul class="need-list">
        ${unsure.map(
          ({ key, text, to }) =>
            html`<li key=${key} class="need">
              <${Chip} tone="warn">${t("unsure")}<//>
              <p>${to ? html`<a href=${to}>${text}</a>` : text}</p>
            </li>`,
        )}
        ${needs.map((need) => html`<${OneNeed} key=${need.of} need=${need} />`)}
      </ul>`
    }
    ${!found && (asking ? html`<p class="hint">${t("asked")}</p>` : html`<${Calm} metrics=${metrics.data} />`)}
  `;
}

/** @param {{metrics: any}} props */
function Calm({ metrics }) {
  const t = useWords(attention);
  const language = useContext(Speech);
  const [checked, swept] = [fullTime(metrics.at, language), fullTime(metrics.rolled_at, language)];
  return html`<div class="calm">
    <p><b>${t("calm")}</b></p>
    <p class="hint">${t("calm_checked", { checked, swept })}</p>
  </div>`;
}

/** Why calm cannot be claimed. @param {Polled} metrics @param {Polled} alerts @returns {Unsure[]} */
function useUnsure(metrics, alerts) {
  const t = useWords(attention);
  const language = useContext(Speech);
  const now = useNow(5);
  const at = metrics.at ?? 0;
  const asleep = now - at > ASLEEP_SECONDS * 1000;
  /** @type {Unsure[]} */
  const unsure = [];
  if (metrics.error) unsure.push({ key: "metrics", text: t("metrics_failed") });
  else if (asleep) unsure.push({ key: "metrics", text: t("metrics_asleep", { ago: relativeTime(at, language, now) }) });
  if (alerts.error) unsure.push({ key: "alerts", text: t("alerts_failed"), to: href(["alerts"]) });
  for (const { name, seconds } of doubtsOf(metrics.data, alerts.error ? null : alerts.data)) {
    const value = measure("_seconds", seconds, language);
    unsure.push({ key: name, text: t(name, { value }), to: href(["doctor"]) });
  }
  return unsure;
}

/** @param {{need: import("./attention.js").Need}} props */
function OneNeed({ need }) {
  const t = useWords(attention);
  const language = useContext(Speech);
  const now = useNow(5);
  const sentence = useSentence(need);
  const limited = need.limit !== null && need.limit > 0;
  return html`<li class="need">
    <${Chip} tone=${TONES[need.level]}>${t(need.level)}<//>
    <div>
      <p><a href=${need.to}>${sentence}</a></p>
      ${
        (need.firing || limited) &&
        html`<p class="hint">
          ${need.firing && t("firing_since", { ago: relativeTime(need.firing, language, now) })}
          ${limited && ` ${t("limit", { limit: measure(need.of, need.limit, language) })}`}
        </p>`
      }
    </div>
  </li>`;
}

/** A name of any length, so that one thing hides no other; the alerts' page has it whole. @param {string} name */
const short = (name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);

/** @param {import("./attention.js").Need} need */
function useSentence({ name, of, value, before, subject }) {
  const t = useWords(sentences);
  const language = useContext(Speech);
  const label = useNames(conditions);
  const fault = useNames(deliveryFaults);
  const known = Object.hasOwn(sentences.en, name);
  return t(known ? /** @type {keyof typeof sentences.en} */ (name) : "other", {
    count: value ?? 0,
    value: measure(of, value, language),
    before: before ?? "–",
    label: label(of),
    subject: name === "untold" ? fault(subject ?? "") : short(subject ?? "–"),
  });
}
