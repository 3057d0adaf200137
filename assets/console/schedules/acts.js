// @ts-check
/** What may be done with a schedule: each asks first, and shows afterwards what is true then. */

import { useState } from "preact/hooks";

import { ApiError, post, remove, segment } from "../api.js";
import { html } from "../html.js";
import { freshKey, under } from "../once.js";
import { Ask } from "../parts/dialog.js";
import { href, wayOn } from "../router.js";
import { useWords } from "../words.js";
import { schedules } from "../words/schedules.js";
import { schedulePath, switchSchedule } from "./document.js";

/** @typedef {{schedule: import("./document.js").Schedule, leave: () => void, done: () => void}} ActProps */

/** Start its job now, and follow that. @param {ActProps} props */
function Trigger({ schedule, leave }) {
  const t = useWords(schedules);
  // One for as long as the dialog is open: if the answer was lost, asking again starts nothing twice.
  const [key] = useState(freshKey);
  const act = async () => {
    const go = wayOn();
    const path = `/v1/schedules/${segment(schedule.name)}/trigger`;
    const job = await post(path, undefined, under(key));
    go(href(["jobs", job.id]));
  };
  return html`<${Ask} title=${t("ask_trigger", { name: schedule.name })} verb=${t("trigger")} act=${act} leave=${leave}>
    <p>${t("trigger_does")}</p>
    <p>${t(schedule.overlap === "skip" ? "trigger_waits" : "trigger_beside")}</p>
  <//>`;
}

/** Turn it off, or on. @param {ActProps} props */
function Switch({ schedule, leave, done }) {
  const t = useWords(schedules);
  const { name, enabled } = schedule;
  const act = async () => {
    await switchSchedule(name, !enabled);
    leave();
    done();
  };
  const title = t(enabled ? "ask_disable" : "ask_enable", { name });
  return html`<${Ask} title=${title} verb=${t(enabled ? "disable" : "enable")} act=${act} leave=${leave}>
    <p>${t(enabled ? "disable_does" : "enable_does")}</p>
  <//>`;
}

/** @param {ActProps} props */
function Remove({ schedule, leave }) {
  const t = useWords(schedules);
  const { name } = schedule;
  const act = async () => {
    const go = wayOn();
    try {
      await remove(schedulePath(name));
    } catch (error) {
      // It is gone, which is what was wanted: perhaps an earlier answer was lost.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
    go(href(["schedules"]));
  };
  return html`<${Ask} title=${t("ask_remove", { name })} verb=${t("remove")} danger act=${act} leave=${leave}>
    <p>${t("remove_does")}</p>
    <p>${t("remove_leaves")}</p>
  <//>`;
}

export const ACTS = { trigger: Trigger, switch: Switch, remove: Remove };
