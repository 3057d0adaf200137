// @ts-check
/** Lines over time on a canvas, by uPlot; nobody else knows of it. */

import uPlot from "uplot";

import { ink } from "./scheme.js";

/** `count`: whole numbers; `share`: of one. @typedef {"count" | "share" | "seconds" | "usd"} Unit */
/** `values`: null where nobody knows. @typedef {{tone: string, dash: number[], values: (number | null)[]}} Line */
/**
 * @typedef {{times: number[], lines: Line[], unit: Unit, step: number, language: string,
 *   show: (value: number) => string, onPoint: (at: number | null) => void}} Drawing
 *   `times`: epoch seconds; `step`: seconds from one to the next
 */

const HEIGHT = 180;
const NARROWEST = 120;
const DAY = 86_400;
/** 1, 2, 5, 10, 20 … Where no step is long enough, an axis would have no number at all. @param {number} powers */
const steps = (powers) =>
  Array.from({ length: powers }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();
const WHOLE = steps(15);
const SPANS = [
  ...[0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 43200],
  ...steps(5).map((days) => days * DAY),
];
/** What a scale reaches to at least, so that nothing at all does not look like much. */
const LEAST = /** @type {Record<Unit, number>} */ ({ count: 4, share: 1, seconds: 1, usd: 0.001 });

/** Draw into a box, which must be on the page. @param {HTMLElement} box @param {Drawing} drawing */
export function draw(box, drawing) {
  const plot = new uPlot(
    {
      width: widthOf(box),
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 20, 0, 0],
      scales: { y: { range: (_, _least, most) => [0, top(drawing.unit, most)] } },
      axes: [timeAxis(drawing), valueAxis(drawing)],
      series: [{}, ...drawing.lines.map(lineOf)],
      cursor: { y: false, drag: { x: false, y: false, setScale: false } },
      hooks: { setCursor: [(self) => drawing.onPoint(self.cursor.idx ?? null)] },
    },
    dataOf(drawing),
    box,
  );
  const watch = new ResizeObserver(() => plot.setSize({ width: widthOf(box), height: HEIGHT }));
  watch.observe(box);
  return {
    /** @param {Drawing} next  the same lines with other values */
    renew: (next) => plot.setData(dataOf(next)),
    /** Mark a point. @param {number | null} at */
    mark: (at) => mark(plot, at),
    end: () => {
      watch.disconnect();
      plot.destroy();
    },
  };
}

/** @param {uPlot} plot @param {number | null} at */
function mark(plot, at) {
  if (plot.cursor.idx === at) return;
  const time = at === null ? undefined : plot.data[0]?.[at];
  const left = time === undefined ? -10 : plot.valToPos(time, "x");
  plot.setCursor({ left, top: time === undefined ? -10 : 0 }, false);
}

/** @param {HTMLElement} box */
const widthOf = (box) => Math.max(box.clientWidth, NARROWEST);

/** @param {Unit} unit @param {number | null} most */
const top = (unit, most) => (unit === "share" ? 1 : Math.max((most ?? 0) * 1.1, LEAST[unit]));

/** @param {Drawing} drawing @returns {uPlot.AlignedData} */
const dataOf = ({ times, lines }) => [times, ...lines.map(({ values }) => values)];

/** @param {Line} line @returns {uPlot.Series} */
function lineOf({ tone, dash }) {
  const colour = ink(tone);
  // A value between two that nobody knows is no line: without a point it would not be seen.
  const filter = (/** @type {uPlot} */ self, /** @type {number} */ line, /** @type {boolean} */ all) =>
    all ? null : alone(/** @type {(number | null)[]} */ (self.data[line]));
  const points = { size: 5, fill: colour, stroke: colour, filter };
  return { stroke: colour, dash, width: 2, points };
}

/** @param {(number | null)[]} values */
function alone(values) {
  const known = (/** @type {number} */ at) => values[at] != null;
  return [...values.keys()].filter((at) => known(at) && !known(at - 1) && !known(at + 1));
}

/** @param {Drawing} drawing @returns {uPlot.Axis} */
function timeAxis({ step, times, language }) {
  const long = step * times.length > 2 * DAY;
  const day = new Intl.DateTimeFormat(language, { month: "numeric", day: "numeric" });
  const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const midnight = (/** @type {Date} */ at) => at.getHours() === 0 && at.getMinutes() === 0;
  const name = (/** @type {Date} */ at) => (long || midnight(at) ? day : time).format(at);
  // Where clocks are put back, one tick more is reckoned than there is room for.
  const filter = (/** @type {uPlot} */ self, /** @type {number[]} */ splits) =>
    splits.map((split) => (split > (self.scales.x?.max ?? split) ? null : split));
  const axis = paint();
  return {
    ...axis,
    size: 28,
    space: 56,
    filter,
    grid: { ...axis.grid, filter },
    ticks: { ...axis.ticks, filter },
    values: (_, splits) => splits.map((split) => split && name(new Date(split * 1000))),
    ...(long && { incrs: [DAY, 2 * DAY, 7 * DAY] }),
  };
}

/** @param {Drawing} drawing @returns {uPlot.Axis} */
function valueAxis({ unit, show }) {
  const incrs = unit === "count" ? WHOLE : unit === "seconds" ? SPANS : undefined;
  return {
    ...paint(),
    size: (self, values) => widest(self, values) + 14,
    values: (_, splits) => splits.map(show),
    ...(incrs && { incrs }),
  };
}

/** @param {uPlot} self @param {string[] | null} values */
function widest(self, values) {
  self.ctx.save();
  self.ctx.font = font();
  const widths = (values ?? []).map((value) => self.ctx.measureText(value).width);
  self.ctx.restore();
  return Math.ceil(Math.max(24, ...widths));
}

const font = () => `12px ${getComputedStyle(document.body).fontFamily}`;

/** @returns {uPlot.Axis} */
function paint() {
  const line = ink("--line");
  return { stroke: ink("--soft"), font: font(), grid: { stroke: line, width: 1 }, ticks: { stroke: line, size: 4 } };
}
