// @ts-check
/**
 * Start a bulk redrive. The API takes no idempotency key for it, so that asking twice would start two:
 * when no answer came, the list is looked at before it is asked again.
 */

import { useState } from "preact/hooks";

import { ApiError, get, post } from "../api.js";
import { useCaller } from "../caller.js";
import { html } from "../html.js";
import { Ask } from "../parts/dialog.js";
import { Id } from "../parts/id.js";
import { href, navigate } from "../router.js";
import { useWords } from "../words.js";
import { redrives } from "../words/redrives.js";
import { FILTERS, FilterWords } from "./filter.js";
import { goesOn } from "./state.js";

const LOOKED_AT = 50;

/** What was asked for, and which bulk redrive was the newest before.
 * @typedef {{order: any, before: string}} Try */

/** `tried` outlives the dialog: who leaves it before the answer has come must not start another.
 * @param {{filter: Record<string, string>, estimate: any, pace: import("./pace.js").Order | null,
 *   tried: {current: Try | null}, leave: () => void}} props */
export function Start({ filter, estimate, pace, tried, leave }) {
  const t = useWords(redrives);
  const me = useCaller().key_id;
  const [doubt, setDoubt] = useState(tried.current !== null);
  const [absent, setAbsent] = useState(false);
  const [rival, setRival] = useState(/** @type {string | null} */ (null));

  const go = (/** @type {string} */ id) => navigate(href(["redrives", id]));
  const look = async () => {
    const found = tried.current && (await find(tried.current, me));
    tried.current = null;
    setDoubt(false);
    if (found) return go(found);
    setAbsent(true);
  };
  const start = async (/** @type {string} */ reason) => {
    setAbsent(false);
    const order = { filter, reason, ...pace };
    const others = await latest();
    const going = others.find((other) => goesOn(other) && sameFilter(other.filter, filter));
    if (going && going.id !== rival) return setRival(going.id);
    const before = others[0]?.id ?? "";
    tried.current = { order, before };
    try {
      go((await post("/v1/redrives", order)).id);
      tried.current = null;
    } catch (problem) {
      const lost = problem instanceof ApiError && (problem.status === 0 || problem.status >= 500);
      if (lost) setDoubt(true);
      else tried.current = null;
      throw problem;
    }
  };
  const { canary = 0, rate_per_minute: rate = 0 } = pace ?? {};
  const { replayable } = estimate;
  return html`<${Ask}
    title=${t("start_title")}
    verb=${t(doubt ? "look" : rival ? "start_another" : "start_verb")}
    reason
    act=${(/** @type {string} */ reason) => (doubt ? look() : start(reason))}
    leave=${leave}
  >
    <${FilterWords} filter=${filter} />
    <p>${t("start_what", { count: replayable, canary: Math.min(canary, replayable), rate })}</p>
    ${rival && !doubt && html`<p class="notice">${t("rival")} <${Id} id=${rival} to=${href(["redrives", rival])} /></p>`}
    ${doubt && html`<p class="notice">${t("lost")}</p>`} ${absent && html`<p class="notice">${t("not_started")}</p>`}
  <//>`;
}

/** The newest bulk redrives: ids sort by time. @returns {Promise<any[]>} */
async function latest() {
  return (await get(`/v1/redrives?limit=${LOOKED_AT}`)).body.items;
}

/** The id of the bulk redrive that came of a try that got no answer, if one did.
 * @param {Try} tried @param {string} me the key that asked @returns {Promise<string | undefined>} */
async function find({ order, before }, me) {
  const mine = (/** @type {any} */ redrive) =>
    redrive.id > before && redrive.created_by === me && redrive.reason === order.reason && same(redrive, order);
  return (await latest()).find(mine)?.id;
}

/** @param {any} redrive @param {any} order */
function same(redrive, order) {
  const paced = redrive.canary === order.canary && redrive.rate_per_minute === order.rate_per_minute;
  return paced && sameFilter(redrive.filter, order.filter);
}

/** @param {Record<string, string | null>} one @param {Record<string, string | null>} other */
const sameFilter = (one, other) => FILTERS.every((name) => equal(name, one[name] ?? "", other[name] ?? ""));

/** Times may be written in two ways. @param {string} name @param {string} one @param {string} other */
const equal = (name, one, other) =>
  one === other || (name === "before" && new Date(one).getTime() === new Date(other).getTime());
