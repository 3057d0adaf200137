// @ts-check
/** When a schedule comes true, and how its last time came out. */

import { useContext } from "preact/hooks";

import { ownZone, zonedTime } from "../format.js";
import { html } from "../html.js";
import { Chip } from "../parts/chip.js";
import { Id } from "../parts/id.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { Speech, useNames, useWords } from "../words.js";
import { occurrences } from "../words/names.js";
import { schedules } from "../words/schedules.js";

/** A moment by the schedule's clock, and by the reader's where that is another.
 * @param {{time: string, zone: string}} props */
export function InZones({ time, zone }) {
  const language = useContext(Speech);
  const own = ownZone();
  const zones = zone === own ? [zone] : [zone, own];
  return html`${zones.map((each) => {
    const shown = zonedTime(time, language, each);
    return shown && html`<span key=${each} class="zoned">${shown} <span class="zone">${each}</span></span>`;
  })}`;
}

/** @param {{schedule: import("./document.js").Schedule}} props */
export function Next({ schedule }) {
  const t = useWords(schedules);
  const { next_at: time, timezone: zone } = schedule;
  if (time === null) return html`<span class="none kept">${t("none_next")}</span>`;
  return html`<div class="moments"><${When} time=${time} /> <${InZones} time=${time} zone=${zone} /></div>`;
}

/** @param {{schedule: import("./document.js").Schedule}} props */
export function Last({ schedule }) {
  const t = useWords(schedules);
  const outcome = useNames(occurrences);
  const { last } = schedule;
  if (last === null) return html`<span class="none kept">${t("none_last")}</span>`;
  return html`<div class="moments">
    <span
      ><${Chip} tone=${last.outcome === "skipped" ? "warn" : "neutral"}>${outcome(last.outcome)}<//> ${" "}<${When}
        time=${last.at}
      />
    </span>
    ${last.job_id !== null && html`<${Id} id=${last.job_id} to=${href(["jobs", last.job_id])} />`}
  </div>`;
}

/** @param {{enabled: boolean}} props */
export function Enabled({ enabled }) {
  const t = useWords(schedules);
  return html`<${Chip} tone=${enabled ? "good" : "neutral"}>${t(enabled ? "on" : "off")}<//>`;
}
