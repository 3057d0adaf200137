// @ts-check
/**
 * Start a bulk redrive. It is asked for under a key of its own: when no answer came, the very same is
 * asked for again, and starts at most once.
 */

import { useState } from "preact/hooks";

import { ApiError, get, post } from "../api.js";
import { html } from "../html.js";
import { freshKey, under } from "../once.js";
import { Ask } from "../parts/dialog.js";
import { Id } from "../parts/id.js";
import { href, wayOn } from "../router.js";
import { useWords } from "../words.js";
import { redrives } from "../words/redrives.js";
import { FILTERS, FilterWords } from "./filter.js";
import { goesOn } from "./state.js";

const LOOKED_AT = 50;

/** What was asked for, and nobody has answered. @typedef {{order: any, key: string}} Try */

/** `tried` outlives the dialog: who leaves it before the answer has come must not start another.
 * @param {{filter: Record<string, string>, estimate: any, pace: import("./pace.js").Order | null,
 *   tried: {current: Try | null}, leave: () => void}} props */
export function Start({ filter, estimate, pace, tried, leave }) {
  const t = useWords(redrives);
  const [open, setOpen] = useState(tried.current);
  const [rival, setRival] = useState(/** @type {string | null} */ (null));

  const start = async (/** @type {string} */ reason) => {
    const go = wayOn();
    const going = open ? null : await underWay(filter);
    if (going && going !== rival) return setRival(going);
    const mine = open ?? { order: { filter, reason, ...pace }, key: freshKey() };
    tried.current = mine;
    try {
      const { id } = await post("/v1/redrives", mine.order, under(mine.key));
      tried.current = null;
      go(href(["redrives", id]));
    } catch (problem) {
      const lost = problem instanceof ApiError && (problem.status === 0 || problem.status >= 500);
      if (!lost) tried.current = null;
      setOpen(tried.current);
      throw problem;
    }
  };
  return html`<${Ask}
    title=${t("start_title")}
    verb=${t(open ? "ask_again" : rival ? "start_another" : "start_verb")}
    reason=${!open}
    act=${start}
    leave=${leave}
  >
    ${open ? html`<${Lost} order=${open.order} />` : html`<${What} filter=${filter} estimate=${estimate} pace=${pace} />`}
    ${rival && !open && html`<p class="notice">${t("rival")} <${Id} id=${rival} to=${href(["redrives", rival])} /></p>`}
  <//>`;
}

/** @param {{filter: Record<string, string>, estimate: any, pace: import("./pace.js").Order | null}} props */
function What({ filter, estimate: { replayable }, pace }) {
  const t = useWords(redrives);
  const { canary = 0, rate_per_minute: rate = 0 } = pace ?? {};
  return html`
    <${FilterWords} filter=${filter} />
    <p>${t("start_what", { count: replayable, canary: Math.min(canary, replayable), rate })}</p>
  `;
}

/** @param {{order: any}} props */
function Lost({ order: { filter, reason, canary, rate_per_minute: rate } }) {
  const t = useWords(redrives);
  return html`
    <p class="notice">${t("lost")}</p>
    <${FilterWords} filter=${filter} />
    <p>${t("pace", { canary, rate })}</p>
    <p>${t("reason")}: ${reason}</p>
  `;
}

/** The id of one of the latest bulk redrives that goes on over the same letters, if there is one.
 * @param {Record<string, string>} filter @returns {Promise<string | undefined>} */
async function underWay(filter) {
  const { body } = await get(`/v1/redrives?limit=${LOOKED_AT}`);
  return body.items.find((/** @type {any} */ other) => goesOn(other) && same(other.filter, filter))?.id;
}

/** @param {Record<string, string | null>} one @param {Record<string, string | null>} other */
const same = (one, other) => FILTERS.every((name) => equal(name, one[name] ?? "", other[name] ?? ""));

/** Times may be written in two ways. @param {string} name @param {string} one @param {string} other */
const equal = (name, one, other) =>
  one === other || (name === "before" && new Date(one).getTime() === new Date(other).getTime());
