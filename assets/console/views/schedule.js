// @ts-check
/** One schedule, whole, and what may be done with it. */

import { useState } from "preact/hooks";

import { useCaller } from "../caller.js";
import { html } from "../html.js";
import { Facts } from "../parts/facts.js";
import { Loading } from "../parts/loading.js";
import { Page } from "../parts/page.js";
import { Named } from "../parts/place.js";
import { Problem } from "../parts/problem.js";
import { When } from "../parts/when.js";
import { usePolled } from "../poll.js";
import { href } from "../router.js";
import { ACTS } from "../schedules/acts.js";
import { schedulePath } from "../schedules/document.js";
import { Enabled, Last, Next } from "../schedules/times.js";
import { isOperator, mayWrite } from "../session.js";
import { useNames, useWords } from "../words.js";
import { kinds, overlaps } from "../words/names.js";
import { schedules } from "../words/schedules.js";
import { shell } from "../words/shell.js";

/** @typedef {import("../schedules/document.js").Schedule} Schedule */

export const parameters = ["tenant"];

/** @param {import("../pages.js").ViewProps} props */
export default function OneSchedule({ params, query }) {
  const name = params.name ?? "";
  const polled = usePolled(schedulePath(name, query.get("tenant")), { every: 10 });
  const [act, setAct] = useState(/** @type {keyof typeof ACTS | null} */ (null));
  const { data, error, refresh } = polled;
  const writes = mayWrite(useCaller());
  const actions = data && writes && html`<${Actions} schedule=${data} choose=${setAct} />`;
  return html`<${Page} title=${name} polled=${polled} actions=${actions}>
    ${!data && (error ? html`<${Problem} error=${error} retry=${refresh} />` : html`<${Loading} />`)}
    ${data && html`<${Told} schedule=${data} />`}
    ${data && act && html`<${ACTS[act]} schedule=${data} leave=${() => setAct(null)} done=${refresh} />`}
  <//>`;
}

/** @param {{schedule: Schedule, choose: (act: keyof typeof ACTS) => void}} props */
function Actions({ schedule, choose }) {
  const t = useWords(schedules);
  return html`
    <button class="primary" onClick=${() => choose("trigger")}>${t("trigger")}</button>
    <a class="button" href=${href(["schedules", schedule.name, "edit"])}>${t("edit")}</a>
    <button onClick=${() => choose("switch")}>${t(schedule.enabled ? "disable" : "enable")}</button>
    <button onClick=${() => choose("remove")}>${t("remove")}</button>
  `;
}

/** @param {{schedule: Schedule}} props */
function Told({ schedule }) {
  const t = useWords(schedules);
  const s = useWords(shell);
  const [kind, overlap] = [useNames(kinds), useNames(overlaps)];
  const operator = isOperator(useCaller());
  return html`
    <div class="card">
      <${Facts}
        facts=${[
          [t("enabled"), html`<${Enabled} enabled=${schedule.enabled} />`],
          [t("next"), html`<${Next} schedule=${schedule} />`],
          [t("last"), html`<${Last} schedule=${schedule} />`],
          [t("cron"), html`<code>${schedule.cron}</code>`],
          [t("timezone"), schedule.timezone],
          [t("kind"), kind(schedule.kind)],
          [
            t("overlap"),
            html`<div class="moments">
              ${overlap(schedule.overlap)}
              <span class="zone">${t(schedule.overlap === "allow" ? "allow_means" : "skip_means")}</span>
            </div>`,
          ],
          [t("run_key"), schedule.run_key !== null && html`<${Jobs} schedule=${schedule} />`],
          [s("tenant"), operator ? schedule.tenant_id : null],
          [t("created"), html`<${When} time=${schedule.created_at} />`],
          [t("updated"), html`<${When} time=${schedule.updated_at} />`],
        ].filter(([, value]) => value !== false)}
      />
    </div>
    <section class="card">
      <h2>${t("work")}</h2>
      ${schedule.input === null ? html`<p class="hint">${t("hidden")}</p>` : html`<${Work} schedule=${schedule} />`}
    </section>
  `;
}

/** The run key leads to the jobs that hold it, or did. @param {{schedule: Schedule}} props */
function Jobs({ schedule }) {
  const t = useWords(schedules);
  const tenant = isOperator(useCaller()) ? schedule.tenant_id : null;
  const to = href(["jobs"], { run_key: schedule.run_key, tenant });
  return html`<span class="name">${schedule.run_key}</span> · <a href=${to}>${t("its_jobs")}</a>`;
}

/** @param {{schedule: Schedule}} props */
function Work({ schedule }) {
  const t = useWords(schedules);
  const { text, texts, ref, refs } = schedule.input ?? {};
  const named = ref === undefined ? refs : [ref];
  return html`
    ${
      named &&
      html`<h3>${t("refs")}</h3>
        <ul class="id-list">
          ${named.map((/** @type {string} */ id) => html`<li key=${id}><${Named} id=${id} /></li>`)}
        </ul>`
    }
    ${text !== undefined && html`<${Content} label=${t("text")} texts=${[text]} />`}
    ${texts !== undefined && html`<${Content} label=${t("texts")} texts=${texts} />`}
    <h3>${t("params")}</h3>
    <pre class="wrapped">${JSON.stringify(schedule.params, null, 2)}</pre>
  `;
}

/** Folded: it may be long. @param {{label: string, texts: string[]}} props */
function Content({ label, texts }) {
  const t = useWords(schedules);
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return html`<details class="fold">
    <summary>${label} (${t("characters", { count: characters })})</summary>
    ${texts.map((text, at) => html`<pre key=${at} class="wrapped">${text}</pre>`)}
  </details>`;
}
