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
import { href, wayOn } from "../router.js";
import { useWords } from "../words.js";
import { redrives } from "../words/redrives.js";
import { FILTERS, FilterWords } from "./filter.js";

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

  const look = async () => {
    const go = wayOn();
    const found = tried.current && (await find(tried.current, me));
    tried.current = null;
    setDoubt(false);
    if (found) return go(href(["redrives", found]));
    setAbsent(true);
  };
  const start = async (/** @type {string} */ reason) => {
    setAbsent(false);
    const go = wayOn();
    const order = { filter, reason, ...pace };
    const before = await newest();
    tried.current = { order, before };
    try {
      go(href(["redrives", (await post("/v1/redrives", order)).id]));
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
    verb=${t(doubt ? "look" : "start_verb")}
    reason
    act=${(/** @type {string} */ reason) => (doubt ? look() : start(reason))}
    leave=${leave}
  >
    <${FilterWords} filter=${filter} />
    <p>${t("start_what", { count: replayable, canary: Math.min(canary, replayable), rate })}</p>
    ${doubt && html`<p class="notice">${t("lost")}</p>`} ${absent && html`<p class="notice">${t("not_started")}</p>`}
  <//>`;
}

/** The newest bulk redrive of all: ids sort by time. */
async function newest() {
  const { body } = await get("/v1/redrives?limit=1");
  return body.items[0]?.id ?? "";
}

/** The id of the bulk redrive that came of a try that got no answer, if one did.
 * @param {Try} tried @param {string} me the key that asked @returns {Promise<string | undefined>} */
async function find({ order, before }, me) {
  const { body } = await get(`/v1/redrives?limit=${LOOKED_AT}`);
  const mine = (/** @type {any} */ redrive) =>
    redrive.id > before && redrive.created_by === me && redrive.reason === order.reason && same(redrive, order);
  return body.items.find(mine)?.id;
}

/** @param {any} redrive @param {any} order */
function same(redrive, order) {
  const paced = redrive.canary === order.canary && redrive.rate_per_minute === order.rate_per_minute;
  return paced && FILTERS.every((name) => equal(name, redrive.filter[name] ?? "", order.filter[name] ?? ""));
}

/** Times may be written in two ways. @param {string} name @param {string} one @param {string} other */
const equal = (name, one, other) =>
  one === other || (name === "before" && new Date(one).getTime() === new Date(other).getTime());
