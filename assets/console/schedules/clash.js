// @ts-check
/** Somebody else was quicker: what to do about that is asked, not decided. */

import { html } from "../html.js";
import { href } from "../router.js";
import { useWords } from "../words.js";
import { schedules } from "../words/schedules.js";

/** @typedef {import("./document.js").Schedule} Schedule */

/** @param {{clash: {now: Schedule | null, members: string[]}, creating: boolean,
 *   settle: (now: Schedule | null, mine: boolean) => void}} props */
export function Clash({ clash: { now, members }, creating, settle }) {
  const t = useWords(schedules);
  if (creating && now) {
    return html`<div class="notice" role="alert">
      <p>${t("taken")} <a href=${href(["schedules", now.name])}>${now.name}</a></p>
    </div>`;
  }
  return html`<div class="notice" role="alert">
    <p>${now ? t("changed") : t("deleted")}</p>
    ${
      members.length > 0 &&
      html`<ul>
        ${members.map((member) => html`<li key=${member}><code>${member}</code></li>`)}
      </ul>`
    }
    <div class="actions">
      ${now && html`<button type="button" onClick=${() => settle(now, false)}>${t("take_theirs")}</button>`}
      <button type="button" onClick=${() => settle(now, true)}>${t("keep_mine")}</button>
    </div>
  </div>`;
}
