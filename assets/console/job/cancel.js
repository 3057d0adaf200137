// @ts-check
/** Stopping a job, after a question. */

import { useEffect, useRef, useState } from "preact/hooks";

import { post, segment } from "../api.js";
import { html } from "../html.js";
import { StateChip } from "../parts/chip.js";
import { Ask } from "../parts/dialog.js";
import { Id } from "../parts/id.js";
import { useWords } from "../words.js";
import { job as words } from "../words/job.js";

/** `refresh` shows the new truth. @param {{job: any, refresh: () => void}} props */
export function Cancel({ job, refresh }) {
  const t = useWords(words);
  const [asking, setAsking] = useState(false);
  const was = useRef(false);
  // The button may be gone with the question: then the focus is nowhere.
  useEffect(() => {
    if (!asking && document.activeElement === document.body && was.current) document.querySelector("h1")?.focus();
    was.current = asking;
  }, [asking]);
  const act = async () => {
    try {
      await post(`/v1/jobs/${segment(job.id)}/cancel`);
      setAsking(false);
    } finally {
      refresh(); // when it was refused too: the job has ended, then
    }
  };
  const late = job.terminal ? "cancel_late" : job.state === "running" ? "cancel_running" : "cancel_waiting";
  return html`
    ${
      !job.terminal &&
      !job.cancel_requested_at &&
      html`<button onClick=${() => setAsking(true)}>${t("cancel_job")}</button>`
    }
    ${
      asking &&
      html`<${Ask}
        title=${t("cancel_title")}
        verb=${t("cancel_job")}
        stay=${t("keep")}
        danger
        ready=${!job.terminal}
        act=${act}
        leave=${() => setAsking(false)}
      >
        <p><${StateChip} state=${job.state} /> <${Id} id=${job.id} whole /></p>
        <p>${t(late)}</p>
      <//>`
    }
  `;
}
