// @ts-check
/** How the objectives stand, those that fire first, and whether somebody was told. */

import { useContext } from "preact/hooks";

import { serverNow } from "../clock.js";
import { relativeTime } from "../format.js";
import { html } from "../html.js";
import { Chip } from "../parts/chip.js";
import { Empty, Loading } from "../parts/loading.js";
import { measure, placeOf } from "../parts/measure.js";
import { useNow } from "../parts/now.js";
import { Page } from "../parts/page.js";
import { Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { usePolled } from "../poll.js";
import { Speech, useNames, useWords } from "../words.js";
import { alerts } from "../words/alerts.js";
import { alertStates, conditions, deliveryFaults } from "../words/names.js";

const EVERY_SECONDS = 10;
const SLOWEST_SECONDS = 30;
/** The sweep reckons each minute. */
const STALE_SECONDS = 300;
const TONES = /** @type {Record<string, import("../parts/chip.js").Tone>} */ ({
  firing: "bad",
  pending: "warn",
  ok: "good",
});
const ORDER = Object.keys(TONES);

export default function Alerts() {
  const t = useWords(alerts);
  const polled = usePolled("/v1/alerts", { every: EVERY_SECONDS, slowest: SLOWEST_SECONDS });
  return html`<${Page} title=${t("title")} polled=${polled}><${Shown} polled=${polled} /><//>`;
}

/** @param {{polled: import("../poll.js").Polled}} props */
function Shown({ polled }) {
  const t = useWords(alerts);
  const { data, error, refresh } = polled;
  if (!data) return error ? html`<${Problem} error=${error} retry=${refresh} />` : html`<${Loading} />`;
  const items = data.items.toSorted(
    (/** @type {any} */ one, /** @type {any} */ other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state),
  );
  if (!items.length) return html`<${Empty}>${t("none")}<//>`;
  const firing = items.filter((/** @type {any} */ { state }) => state === "firing").length;
  return html`
    <p role="status"><b>${firing ? t("firing", { count: firing }) : t("none_firing")}</b></p>
    <${Age} items=${items} />
    <${AlertTable} items=${items} />
    <p class="hint">${t("hint")}</p>
  `;
}

/** @param {{items: any[]}} props */
function Age({ items }) {
  const t = useWords(alerts);
  const language = useContext(Speech);
  const now = useNow(5);
  const newest = Math.max(...items.map(({ computed_at: at }) => Date.parse(at)));
  if (now - newest < STALE_SECONDS * 1000) return null;
  return html`<p class="notice" role="status">${t("old", { ago: relativeTime(newest, language, now) })}</p>`;
}

/** @param {{items: any[]}} props */
function AlertTable({ items }) {
  const t = useWords(alerts);
  const language = useContext(Speech);
  const state = useNames(alertStates);
  /** @param {keyof typeof alerts.en} label @param {(alert: any) => any} cell @param {boolean} [numeric] */
  const column = (label, cell, numeric) => ({ label: t(label), cell, numeric });
  const columns = [
    column("objective", (alert) => html`<${Objective} alert=${alert} />`),
    column("state", (alert) => html`<${Chip} tone=${TONES[alert.state]}>${state(alert.state)}<//>`),
    column("value", ({ name, value }) => measure(name, value, language), true),
    column("limit", ({ name, limit }) => measure(name, limit, language), true),
    column("since", ({ since }) => html`<${When} time=${since} />`),
    column("fired", ({ state: now, fired_at: at }) => html`<${When} time=${now === "firing" ? at : null} />`),
    column("resolved", ({ resolved_at: at }) => html`<${When} time=${at} />`),
    column("told", ({ delivery }) => html`<${Delivery} delivery=${delivery} />`),
  ];
  return html`<${Table}
    caption=${t("title")}
    columns=${columns}
    rows=${items}
    id=${(/** @type {any} */ alert) => alert.name}
  />`;
}

/** @param {{alert: any}} props */
function Objective({ alert: { name, subject } }) {
  const t = useWords(alerts);
  const label = useNames(conditions);
  const to = placeOf(name, { subject, now: new Date(serverNow()).toISOString() });
  return html`<div>
    <a href=${to}>${label(name)}</a>
    ${subject !== null && html`<p class="name">${t("about")}: ${subject}</p>`}
    <p class="hint objective-hint">${t("runbook")}: <code>docs/alerts.md#${name}</code></p>
  </div>`;
}

/** @param {{delivery: any}} props */
function Delivery({ delivery: { pending, tries, last_at: at, error_class: fault } }) {
  const t = useWords(alerts);
  const name = useNames(deliveryFaults);
  const language = useContext(Speech);
  const now = useNow(5);
  if (pending && fault) return html`<span class="refusal">${t("untold", { count: tries, fault: name(fault) })}</span>`;
  if (pending) return t("to_tell");
  return at
    ? t("told_at", { ago: relativeTime(at, language, now) })
    : html`<span class="none">${t("never_told")}</span>`;
}
