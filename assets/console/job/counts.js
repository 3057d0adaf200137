// @ts-check
/** How many jobs there are in each state, each a link to their list. */

import { useContext } from "preact/hooks";

import { pathWith } from "../api.js";
import { count as number } from "../format.js";
import { html } from "../html.js";
import { usePolled } from "../poll.js";
import { href } from "../router.js";
import { Speech, useNames, useWords } from "../words.js";
import { jobs } from "../words/jobs.js";
import { states } from "../words/names.js";

const WAITING = ["", "accepted", "retrying"];

/** Whether jobs that wait may be meant: only they are due, or not. @param {URLSearchParams} query */
export const waits = (query) => WAITING.includes(query.get("state") ?? "");

/** The filters that the API counts by. */
const COUNTED = ["kind", "run_key", "tenant"];
/** Counting reads much more than a page of the list. */
const EVERY_SECONDS = 15;

/** @param {{query: URLSearchParams}} props */
export function Counts({ query }) {
  const t = useWords(jobs);
  const asked = Object.fromEntries(COUNTED.map((name) => [name, query.get(name)]));
  const { data } = usePolled(pathWith("/v1/jobs/counts", asked), { every: EVERY_SECONDS });
  if (!data) return html`<div class="counts"></div>`; // its room is kept
  const timed = [...query.keys()].some((name) => /_(after|before)$/.test(name));
  return html`<nav class="counts" aria-label=${t("by_state")}>
    ${data.items.map((/** @type {any} */ item) => html`<${Count} key=${item.state} item=${item} query=${query} />`)}
    ${timed && html`<p class="hint">${t("all_times")}</p>`}
    ${waits(query) && query.has("due") && html`<p class="hint">${t("all_due")}</p>`}
  </nav>`;
}

/** The chosen one leads back to all. @param {{item: {state: string, count: number, capped: boolean}, query: URLSearchParams}} props */
function Count({ item: { state, count, capped }, query }) {
  const name = useNames(states);
  const language = useContext(Speech);
  const chosen = query.get("state") === state;
  const to = new URLSearchParams(query);
  if (chosen) to.delete("state");
  else to.set("state", state);
  if (!waits(to)) to.delete("due");
  return html`<a
    href=${href(["jobs"], to)}
    class=${count ? `count ${state}` : "count"}
    aria-current=${chosen ? "true" : undefined}
  >
    <span>${name(state)}</span> <b>${number(count, language)}${capped && "+"}</b>
  </a>`;
}
