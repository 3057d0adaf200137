// @ts-check
/**
 * A chart: lines over time, with the same in words (the last and the highest value of each line) and
 * as a table. A point leads to its jobs; it is chosen by pointer or by arrow keys.
 */

import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { html } from "../html.js";
import { navigate } from "../router.js";
import { Speech, useWords } from "../words.js";
import { charts } from "../words/charts.js";
import { ChartTable } from "./chart_table.js";
import { draw } from "./plot.js";
import { useScheme } from "./scheme.js";

/** @typedef {import("./plot.js").Unit} Unit */
/** `tone` is a token; lines differ by dash too. `list`: what its numbers count, as a link. `worst`:
 * whether the highest (as usual) or the lowest value is the one to know.
 * @typedef {{label: string, tone: string, dash: number[], value: (point: any) => number | null,
 *   worst?: "low", list?: (from: string, to: string) => string}} Line */
/** `total`: values may be added up.
 * @typedef {{title: string, unit: Unit, lines: Line[], total?: boolean, show: (value: number) => string}} Subject */
/** The points, each with its time `at`; undefined while they are fetched. `step` is in seconds.
 * @typedef {{points: any[] | undefined, step: number}} Stretch */

/** How far PageUp and PageDown go. */
const PAGE = 10;

/**
 * @param {{subject: Subject, stretch: Stretch, at: number | null, onAt: (at: number | null) => void,
 *   jobs: (from: string, to: string) => string}} props  `at`: the chosen point, shared by all charts
 */
export function Chart({ subject, stretch, at, onAt, jobs }) {
  const t = useWords(charts);
  const [tabled, setTabled] = useState(false);
  const { points, step } = stretch;
  // Kept as it is while the pointer moves: it may have many rows.
  const table = useMemo(
    () => points && html`<${ChartTable} subject=${subject} points=${points} step=${step} jobs=${jobs} />`,
    [subject, points, step],
  );
  const link = (/** @type {number} */ index) => jobs(...spanOf(points?.[index], step));
  return html`<figure class="card chart">
    <figcaption>
      <h3>${subject.title}</h3>
      <ul class="chart-legend">
        ${subject.lines.map((line) => html`<${Legend} key=${line.label} line=${line} subject=${subject} stretch=${stretch} />`)}
      </ul>
    </figcaption>
    <${Canvas} subject=${subject} stretch=${stretch} at=${at} onAt=${onAt} link=${link} />
    <${Readout} subject=${subject} stretch=${stretch} at=${at} link=${link} />
    <div>
      <button class="quiet" aria-expanded=${tabled} disabled=${!points} onClick=${() => setTabled(!tabled)}>
        ${t(tabled ? "no_table" : "as_table")}<span class="unseen">: ${subject.title}</span>
      </button>
    </div>
    ${tabled && table}
  </figure>`;
}

/** The stretch of a point, half open. @param {any} point @param {number} step @returns {[string, string]} */
export function spanOf(point, step) {
  return [point.at, new Date(Date.parse(point.at) + step * 1000).toISOString()];
}

/** A time of day, with its day where the range is longer than one. @param {number} step */
export function useMoment(step) {
  const language = useContext(Speech);
  return useMemo(() => {
    const day = step >= 900 ? /** @type {const} */ ({ month: "numeric", day: "numeric" }) : {};
    const format = new Intl.DateTimeFormat(language, { ...day, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    return (/** @type {string} */ time) => format.format(new Date(time));
  }, [language, step]);
}

/** One line in words. @param {{line: Line, subject: Subject, stretch: Stretch}} props */
function Legend({ line, subject, stretch: { points = [], step } }) {
  const t = useWords(charts);
  const moment = useMoment(step);
  const known = points
    .map((point) => ({ at: point.at, value: line.value(point) }))
    .filter(({ value }) => value !== null);
  const told = known.length ? wordsOf(known) : [t("never")];
  return html`<li><${Swatch} line=${line} /> <b>${line.label}</b> <span class="told">${told.join(" · ")}</span></li>`;

  /** @param {{at: string, value: any}[]} known */
  function wordsOf(known) {
    const [last, now] = [known[known.length - 1], points[points.length - 1]];
    const sign = line.worst === "low" ? -1 : 1;
    const worst = known.reduce((one, other) => (sign * other.value > sign * one.value ? other : one));
    const total = known.reduce((sum, { value }) => sum + value, 0);
    return [
      last && t(last.at === now.at ? "now" : "last", { value: subject.show(last.value), time: moment(last.at) }),
      t(sign > 0 ? "highest" : "lowest", { value: subject.show(worst.value), time: moment(worst.at) }),
      subject.total && t("total", { value: subject.show(total) }),
    ].filter(Boolean);
  }
}

/** @param {{line: Line}} props */
const Swatch = ({ line }) =>
  html`<svg class="swatch" width="26" height="8" aria-hidden="true" style=${{ color: `var(${line.tone})` }}>
    <line
      x1="0"
      y1="4"
      x2="26"
      y2="4"
      stroke="currentColor"
      stroke-width="2.5"
      stroke-dasharray=${line.dash.join(" ")}
    />
  </svg>`;

/** What the chosen point says, and the way to its jobs.
 * @param {{subject: Subject, stretch: Stretch, at: number | null, link: (at: number) => string}} props */
function Readout({ subject, stretch: { points, step }, at, link }) {
  const t = useWords(charts);
  const moment = useMoment(step);
  const index = at ?? (points?.length ?? 0) - 1;
  const point = points?.[index];
  if (!point) return html`<p class="readout"></p>`;
  const [from, to] = spanOf(point, step);
  return html`<p class="readout">
    <b>${t("point", { from: moment(from), to: moment(to) })}</b>
    ${subject.lines.map((line) => html`<span key=${line.label}>${line.label} ${told(subject, line.value(point), t)}</span>`)}
    <a href=${link(index)}>${t("jobs")}</a>
  </p>`;
}

/** @param {Subject} subject @param {number | null} value @param {(name: "unknown") => string} t */
const told = (subject, value, t) => (value === null ? t("unknown") : subject.show(value));

/** @param {{subject: Subject, stretch: Stretch, at: number | null, onAt: (at: number | null) => void, link: (at: number) => string}} props */
function Canvas({ subject, stretch, at, onAt, link }) {
  const t = useWords(charts);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const { points, step } = stretch;
  const moment = useMoment(step);
  const last = (points?.length ?? 1) - 1;
  usePlot(box, { subject, stretch, at, onAt });

  const key = (/** @type {KeyboardEvent} */ event) => {
    const to = moved(event.key, at ?? last, last);
    if (event.key === "Enter" && points) navigate(link(at ?? last));
    else if (to !== null) onAt(to);
    else return;
    event.preventDefault();
  };
  // A finger has no way to look first: it chooses, and the link below leads on.
  const go = (/** @type {PointerEvent} */ event) => {
    if (event.pointerType !== "touch" && at !== null && points) navigate(link(at));
  };
  const shown = points?.[at ?? last];
  const values =
    shown && subject.lines.map((line) => `${line.label} ${told(subject, line.value(shown), t)}`).join(", ");
  return html`<div
    class="plot"
    ref=${box}
    role="slider"
    tabindex="0"
    aria-label=${subject.title}
    aria-description=${t("keys")}
    aria-valuemin="0"
    aria-valuemax=${last}
    aria-valuenow=${at ?? last}
    aria-valuetext=${shown ? `${moment(shown.at)}: ${values}` : t("never")}
    onKeyDown=${key}
    onBlur=${() => onAt(null)}
    onClick=${go}
  ></div>`;
}

/** Where a key leads to; null if nowhere. @param {string} key @param {number} at @param {number} last */
function moved(key, at, last) {
  /** @type {Record<string, number>} */
  const places = {
    ArrowLeft: at - 1,
    ArrowDown: at - 1,
    ArrowRight: at + 1,
    ArrowUp: at + 1,
    PageUp: at - PAGE,
    PageDown: at + PAGE,
    Home: 0,
    End: last,
  };
  const to = places[key];
  return to === undefined ? null : Math.min(Math.max(to, 0), last);
}

/** Keeps the canvas as the points and the colours are.
 * @param {{current: HTMLElement | null}} box
 * @param {{subject: Subject, stretch: Stretch, at: number | null, onAt: (at: number | null) => void}} props */
function usePlot(box, { subject, stretch: { points, step }, at, onAt }) {
  const language = useContext(Speech);
  const scheme = useScheme();
  const plot = useRef(/** @type {ReturnType<typeof draw> | null} */ (null));
  const there = points !== undefined && points.length > 0;
  const drawing = () => ({
    times: (points ?? []).map((point) => Date.parse(point.at) / 1000),
    lines: subject.lines.map(({ tone, dash, value }) => ({ tone, dash, values: (points ?? []).map(value) })),
    unit: subject.unit,
    show: subject.show,
    onPoint: onAt,
    step,
    language,
  });
  useEffect(() => {
    if (!there || !box.current) return undefined;
    const drawn = draw(box.current, drawing());
    plot.current = drawn;
    return () => {
      plot.current = null;
      drawn.end();
    };
  }, [there, scheme, language, step]);
  useEffect(() => plot.current?.renew(drawing()), [points]);
  useEffect(() => plot.current?.mark(at), [at]);
}
