// @ts-check
/** A new bulk redrive: which letters, then what that would be, then the start. */

import { useContext, useRef, useState } from "preact/hooks";

import { ApiError, post } from "../api.js";
import { count, duration, money } from "../format.js";
import { html } from "../html.js";
import { named } from "../letters/filters.js";
import { Facts } from "../parts/facts.js";
import { Choice, Filters, Text } from "../parts/filters.js";
import { Page } from "../parts/page.js";
import { Moment } from "../parts/window.js";
import { Problem } from "../parts/problem.js";
import { FILTERS, filterIn } from "../redrives/filter.js";
import { Pace, USUAL_PACE, readPace } from "../redrives/pace.js";
import { Start } from "../redrives/start.js";
import { Speech, useNames, useWords } from "../words.js";
import { classes, kinds } from "../words/names.js";
import { redrives } from "../words/redrives.js";

/** What a dry run told of exactly this filter. @typedef {{of: string, estimate: any}} Seen */

export { FILTERS as parameters } from "../redrives/filter.js";

/** @param {import("../pages.js").ViewProps} props */
export default function NewRedrive({ query }) {
  const t = useWords(redrives);
  const filter = filterIn(query);
  const { seen, counting, error, look } = useDryRun(filter);
  const [pace, setPace] = useState(USUAL_PACE);
  const [starting, setStarting] = useState(false);
  const tried = useRef(/** @type {import("../redrives/start.js").Try | null} */ (null));
  const leave = () => setStarting(false);
  const estimate = seen?.of === JSON.stringify(filter) ? seen.estimate : null;
  const { order, wrong } = readPace(pace);
  return html`<${Page} title=${t("new")}>
    <section class="card" aria-label=${t("step_which")}>
      <h2>${t("step_which")}</h2>
      <${Which} query=${query} />
      ${
        Object.keys(filter).length > 0
          ? html`<p class="none">${t("which")}</p>`
          : html`<p class="notice">${t("which_all")}</p>`
      }
      <div class="actions">
        <button class=${estimate ? "" : "primary"} onClick=${look} disabled=${counting}>
          ${t(counting ? "counting" : "dry_run")}
        </button>
      </div>
      ${error && html`<${Problem} error=${error} />`}
    </section>
    <section class="card" aria-label=${t("step_see")} aria-live="polite">
      <h2>${t("step_see")}</h2>
      ${estimate ? html`<${Estimate} estimate=${estimate} />` : html`<p class="none">${t(seen ? "changed" : "see_first")}</p>`}
    </section>
    <section class="card" aria-label=${t("step_start")}>
      <h2>${t("step_start")}</h2>
      <${Pace} pace=${pace} change=${setPace} wrong=${wrong} />
      ${estimate && order && html`<${Takes} estimate=${estimate} order=${order} />`}
      <div class="actions">
        <button
          class=${estimate ? "primary" : ""}
          disabled=${!estimate?.replayable || !order}
          onClick=${() => setStarting(true)}
        >
          ${t("start")}
        </button>
      </div>
    </section>
    ${
      starting &&
      estimate &&
      html`<${Start} filter=${filter} estimate=${estimate} pace=${order} tried=${tried} leave=${leave} />`
    }
  <//>`;
}

/** Looks, when asked, at what the filter would touch; what it told is of that filter alone.
 * @param {Record<string, string>} filter */
function useDryRun(filter) {
  const [seen, setSeen] = useState(/** @type {Seen | null} */ (null));
  const [counting, setCounting] = useState(false);
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const look = async () => {
    setCounting(true);
    setError(null);
    try {
      const estimate = await post("/v1/redrives", { filter, dry_run: true });
      setSeen({ of: JSON.stringify(filter), estimate });
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setSeen(null);
      setError(problem);
    } finally {
      setCounting(false);
    }
  };
  return { seen, counting, error, look };
}

/** @param {{query: URLSearchParams}} props */
function Which({ query }) {
  const t = useWords(redrives);
  const [errorClass, kind] = [useNames(classes), useNames(kinds)];
  return html`<${Filters} names=${[...FILTERS]} query=${query}>
    <${Choice} label=${t("class")} name="class" query=${query} options=${named(classes, errorClass)} />
    <${Choice} label=${t("kind")} name="kind" query=${query} options=${named(kinds, kind)} />
    <${Text} label=${t("tenant")} name="tenant" query=${query} />
    <${Text} label=${t("fingerprint")} name="fingerprint" query=${query} />
    <${Moment} label=${t("before")} name="before" query=${query} />
  <//>`;
}

/** @param {{estimate: any}} props */
function Estimate({ estimate }) {
  const t = useWords(redrives);
  const language = useContext(Speech);
  const { count: fit, replayable, unpriced } = estimate;
  return html`
    <${Facts}
      facts=${[
        [t("count"), html`<b class="figure">${count(fit, language)}</b>`],
        [t("replayable"), html`<b class="figure">${count(replayable, language)}</b>`],
        [t("not_replayable"), fit > replayable ? count(fit - replayable, language) : null],
        [t("estimate"), money(estimate.estimated_cost_usd)],
        [t("unpriced"), unpriced > 0 ? count(unpriced, language) : null],
      ]}
    />
    ${replayable === 0 && html`<p class="notice">${t("nothing")}</p>`}
  `;
}

/** @param {{estimate: any, order: {canary: number, rate_per_minute: number}}} props */
function Takes({ estimate, order }) {
  const t = useWords(redrives);
  const language = useContext(Speech);
  const rest = estimate.replayable - order.canary;
  if (rest <= 0) return null;
  const time = duration(60 * Math.ceil(rest / order.rate_per_minute), language);
  return html`<p class="none">${t("takes", { time })}</p>`;
}
