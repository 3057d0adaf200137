// @ts-check
/** Lists that come page by page: the newest page is live, and going further back makes it stand still. */

import { useRef, useState } from "preact/hooks";

import { ApiError, get } from "../api.js";
import { html } from "../html.js";
import { usePolled } from "../poll.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";
import { Empty, Loading } from "./loading.js";
import { Problem } from "./problem.js";

/** A page may be empty and still have a next one: so many are looked at for one press of the button. */
const EMPTY_PAGES = 10;

/** @typedef {{items: any[], next: string | null}} Stretch */
/** @typedef {{polled: import("../poll.js").Polled, items: any[] | undefined, next: string | null,
 *   deep: boolean, looking: boolean, error: ApiError | null, more: () => void, newest: () => void}} Pages */

/**
 * Follow a list of the API.
 * @param {string} path  with its filters
 * @param {{every?: number}} [options]  see `usePolled`
 * @returns {Pages}
 */
export function usePages(path, { every = 5 } = {}) {
  const [kept, setKept] = useState(/** @type {{path: string, stretch: Stretch | null}} */ ({ path, stretch: null }));
  const [looking, setLooking] = useState(/** @type {string | null} */ (null)); // the path
  const [failed, setFailed] = useState(/** @type {{path: string, error: ApiError} | null} */ (null));
  const current = useRef(path);
  current.current = path;
  const older = kept.path === path ? kept.stretch : null;
  const polled = usePolled(path, { every, until: () => older !== null });
  const shown = older ?? polled.data;

  const more = async () => {
    if (looking === path || !shown?.next) return;
    setLooking(path);
    setFailed(null);
    try {
      const stretch = await further(shown);
      if (current.current === path) setKept({ path, stretch });
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setFailed({ path, error: problem });
    } finally {
      setLooking((of) => (of === path ? null : of));
    }
  };
  const newest = () => {
    setKept({ path, stretch: null });
    polled.refresh();
  };
  const deep = older !== null;
  const error = failed?.path === path ? failed.error : null;
  const shownAs = { items: shown?.items, next: shown?.next ?? null, deep };
  return { polled, ...shownAs, looking: looking === path, error, more, newest };
}

/** @param {Stretch} shown @returns {Promise<Stretch>} */
async function further(shown) {
  let next = shown.next;
  for (let looked = 0; next !== null && looked < EMPTY_PAGES; looked += 1) {
    const { body } = await get(next);
    next = body.next;
    if (body.items.length) return { items: [...shown.items, ...body.items], next };
  }
  return { items: shown.items, next };
}

/** The list, or what stands in its place. `children` shows the items.
 * @param {{pages: Pages, empty?: any, children: (items: any[]) => any}} props */
export function Listed({ pages, empty, children }) {
  const t = useWords(shell);
  const { polled, items, next, deep, looking, error, more, newest } = pages;
  if (items === undefined)
    return polled.error ? html`<${Problem} error=${polled.error} retry=${polled.refresh} />` : html`<${Loading} />`;
  return html`
    ${deep && html`<p class="notice">${t("deep")} <button class="quiet" onClick=${newest}>${t("newest")}</button></p>`}
    ${items.length ? children(items) : !next && html`<${Empty}>${empty}<//>`}
    ${error && html`<${Problem} error=${error} retry=${more} />`}
    ${
      next &&
      html`<p class="more">
        <button onClick=${more} disabled=${looking}>
          ${t(looking ? "looking" : items.length ? "more" : "look_on")}
        </button>
      </p>`
    }
  `;
}
