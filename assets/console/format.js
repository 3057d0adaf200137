// @ts-check
/** Times, spans, amounts and sizes as people read them, in the language that is shown. */

import { serverNow } from "./clock.js";

/** @typedef {import("./session.js").Language} Language */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The whole time in the reader's own zone, to the second. @param {string | number} time @param {Language} language */
export function fullTime(time, language) {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" }).format(new Date(time));
}

/** A time to the minute, by the clock of a zone; null where the browser does not know the zone.
 * @param {string} time @param {Language} language @param {string} [zone]  the reader's own, if left out */
export function zonedTime(time, language, zone) {
  try {
    const shown = { dateStyle: /** @type {const} */ ("medium"), timeStyle: /** @type {const} */ ("short") };
    return new Intl.DateTimeFormat(language, { ...shown, timeZone: zone }).format(new Date(time));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The name of the reader's own zone. */
export const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** How long ago, or how far ahead, to one unit. @param {string | number} time @param {Language} language @param {number} [now] */
export function relativeTime(time, language, now = serverNow()) {
  const seconds = (new Date(time).getTime() - now) / 1000;
  const [value, unit] = inUnit(seconds);
  return new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" }).format(value, unit);
}

/** @param {number} seconds @returns {[number, Intl.RelativeTimeFormatUnit]} */
function inUnit(seconds) {
  const far = Math.abs(seconds);
  if (far < MINUTE) return [Math.round(seconds), "second"];
  if (far < HOUR) return [Math.trunc(seconds / MINUTE), "minute"];
  if (far < DAY) return [Math.trunc(seconds / HOUR), "hour"];
  return [Math.trunc(seconds / DAY), "day"];
}

/** A span by its two largest units: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min, 4 d 3 h.
 * @param {number | null | undefined} seconds @param {Language} language */
export function duration(seconds, language) {
  if (seconds == null) return "–";
  if (seconds < 10) return withUnit(round(seconds, 1), "second", language);
  const whole = Math.round(seconds);
  if (whole < MINUTE) return withUnit(whole, "second", language);
  if (whole < HOUR) return pair(whole, MINUTE, "minute", 1, "second", language);
  if (whole < DAY) return pair(whole, HOUR, "hour", MINUTE, "minute", language);
  return pair(whole, DAY, "day", HOUR, "hour", language);
}

/** @param {number} whole @param {number} large @param {string} largeUnit @param {number} small @param {string} smallUnit @param {Language} language */
function pair(whole, large, largeUnit, small, smallUnit, language) {
  const rest = Math.floor((whole % large) / small);
  const first = withUnit(Math.floor(whole / large), largeUnit, language);
  return rest ? `${first} ${withUnit(rest, smallUnit, language)}` : first;
}

/** @param {number} value @param {string} unit @param {Language} language */
function withUnit(value, unit, language) {
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short" }).format(value);
}

/** A place in a recording: 1:02:03.4. @param {number} seconds */
export function clock(seconds) {
  const tenths = Math.round(seconds * 10);
  const whole = Math.floor(tenths / 10);
  const [h, m, s] = [Math.floor(whole / HOUR), Math.floor(whole / MINUTE) % 60, whole % 60];
  const minutes = h ? `${h}:${String(m).padStart(2, "0")}` : `${m}`;
  return `${minutes}:${String(s).padStart(2, "0")}.${tenths % 10}`;
}

/** An amount as exact as the API tells it, in US dollars, with at least two decimals.
 * @param {string | null | undefined} usd a decimal */
export function money(usd) {
  if (usd == null) return "–";
  const [whole = "0", decimals = ""] = usd.split(".");
  return `$${whole}.${decimals.replace(/0+$/, "").padEnd(2, "0")}`;
}

/** @param {number | null | undefined} value @param {Language} language */
export const count = (value, language) => (value == null ? "–" : new Intl.NumberFormat(language).format(value));

/** What somebody else has named, in a sentence of ours: its direction of writing turns nothing around it.
 * @param {string} name */
export const isolated = (name) => `\u2068${name}\u2069`;

/** A share of one as a percentage. @param {number | null | undefined} value @param {Language} language */
export function percent(value, language) {
  if (value == null) return "–";
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(value);
}

/** @param {number} bytes @param {Language} language */
export function size(bytes, language) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return withUnit(round(bytes / 1000 ** step, step ? 1 : 0), units[step] ?? "byte", language);
}

/** @param {number} value @param {number} digits */
const round = (value, digits) => Math.round(value * 10 ** digits) / 10 ** digits;
