// @ts-check
/** How far a bulk redrive is, and what it waits for. */

import { useContext } from "preact/hooks";

import { count, duration } from "../format.js";
import { html } from "../html.js";
import { Speech, useNames, useWords } from "../words.js";
import { stops } from "../words/names.js";
import { redrives } from "../words/redrives.js";
import { left, underWay } from "./state.js";

/** In the order in which they stand in the bar. */
const PARTS = /** @type {const} */ (["succeeded", "failed", "canceled", "under_way", "skipped", "left"]);

/** @param {{redrive: any}} props */
export function Progress({ redrive }) {
  const t = useWords(redrives);
  const decided = redrive.started + redrive.skipped;
  /** @type {Record<string, number>} */
  const figures = { ...redrive, under_way: underWay(redrive), left: left(redrive) };
  return html`<section class="card" aria-label=${t("progress")}>
    <h2>${t("of_total", { count: decided, total: redrive.total })}</h2>
    <div
      class="bar"
      role="progressbar"
      aria-label=${t("progress")}
      aria-valuemin="0"
      aria-valuemax=${redrive.total}
      aria-valuenow=${decided}
    >
      ${PARTS.map((name) => html`<span key=${name} class=${name} style=${{ flexGrow: String(figures[name] ?? 0) }}></span>`)}
    </div>
    <${Legend} figures=${figures} />
    <p role="status">${useWaits()(redrive)}</p>
  </section>`;
}

/** @param {{figures: Record<string, number>}} props */
function Legend({ figures }) {
  const t = useWords(redrives);
  const language = useContext(Speech);
  return html`<ul class="legend">
    ${PARTS.map(
      (name) =>
        html`<li key=${name}><span class="hue ${name}"></span>${t(name)} <b>${count(figures[name], language)}</b></li>`,
    )}
  </ul>`;
}

/** Says what a bulk redrive waits for now. */
function useWaits() {
  const t = useWords(redrives);
  const language = useContext(Speech);
  return (/** @type {any} */ redrive) => {
    const [live, rest] = [underWay(redrive), left(redrive)];
    switch (redrive.state) {
      case "canary":
        if (live > 0) return t("waits_canary", { count: live });
        return t(redrive.started > 0 ? "waits_verdict" : "waits_sweep");
      case "running":
        if (rest > 0) return t("waits_rate", { rate: redrive.rate_per_minute, time: timeFor(rest, redrive, language) });
        return live > 0 ? t("waits_end", { count: live }) : t("waits_sweep");
      case "stopped":
        return live > 0 ? t("waits_stopped", { count: live }) : t("rests");
      default:
        return t("over");
    }
  };
}

/** @param {number} rest @param {any} redrive @param {import("../words.js").Language} language */
const timeFor = (rest, redrive, language) => duration(60 * Math.ceil(rest / redrive.rate_per_minute), language);

/** Why nothing more is started. The sentence is the API's, or what the person said.
 * @param {{redrive: any}} props */
export function Stopped({ redrive }) {
  const t = useWords(redrives);
  const stop = useNames(stops);
  if (redrive.stopped_because === null) return null;
  const own = redrive.stopped_because !== "asked";
  return html`<div class="notice">
    <p><b>${stop(redrive.stopped_because)}</b></p>
    ${redrive.stopped_detail && html`<p lang=${own ? "en" : undefined}>${redrive.stopped_detail}</p>`}
    ${own && html`<p>${t("not_mended")}</p>`}
    ${redrive.stopped_by && html`<p>${t("stopped_by")} <code>${redrive.stopped_by}</code></p>`}
  </div>`;
}
