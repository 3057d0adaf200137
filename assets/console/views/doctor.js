// @ts-check
/** What does not hold in the store, and mending it. A look reads much, so nobody looks unasked. */

import { useState } from "preact/hooks";

import { ApiError, get, pathWith, post } from "../api.js";
import { html } from "../html.js";
import { Chip } from "../parts/chip.js";
import { Ask } from "../parts/dialog.js";
import { Facts } from "../parts/facts.js";
import { Loading } from "../parts/loading.js";
import { useLook } from "../parts/look.js";
import { Page } from "../parts/page.js";
import { Ids } from "../parts/place.js";
import { Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { useWords } from "../words.js";
import { doctor } from "../words/doctor.js";

/** As far as the API counts. */
const MOST_COUNTED = 10_001;

/** @typedef {{check: string, description: string, ok: boolean, count: number, rows: string[], looked_at: string,
 *   repair: string | null, by_hand: string | null}} Check */
/** @typedef {{check: string, count: number, rows: string[], left: number}} Report */

export default function Doctor() {
  const t = useWords(doctor);
  const looked = useLook("/v1/doctor", { atOnce: false });
  const { data, error, busy, look } = looked;
  const again = html`<button class=${data ? "" : "primary"} onClick=${look} disabled=${busy}>
    ${t(busy ? "looking" : data ? "look" : "look_first")}
  </button>`;
  const mended = (/** @type {Check} */ check) =>
    looked.know((known) => ({
      ...known,
      items: known.items.map((/** @type {Check} */ each) => (each.check === check.check ? check : each)),
    }));
  return html`<${Page} title=${t("title")} actions=${again}>
    <p class="hint">${t("hint")}</p>
    ${error && html`<${Problem} error=${error} retry=${look} />`} ${!data && busy && html`<${Loading} />`}
    ${data && html`<${Found} items=${data.items} at=${looked.at} mended=${mended} />`}
  <//>`;
}

/** @param {{items: Check[], at: string | null, mended: (check: Check) => void}} props */
function Found({ items, at, mended }) {
  const t = useWords(doctor);
  const [reports, setReports] = useState(/** @type {Record<string, Report>} */ ({}));
  const failing = items.filter(({ ok, check }) => !ok || Object.hasOwn(reports, check));
  const sound = items.filter(({ ok }) => ok);
  const broken = items.length - sound.length;
  return html`
    <p class=${broken ? "verdict bad" : "verdict good"} role="status">
      <b>${broken ? t("broken", { count: broken }) : t("sound", { count: items.length })}</b>
      <span class="hint">${t("looked")} <${When} time=${at} full /></span>
    </p>
    ${failing.map(
      (check) =>
        html`<${Failing}
          key=${check.check}
          check=${check}
          report=${reports[check.check]}
          told=${(/** @type {Report} */ report) => setReports((known) => ({ ...known, [check.check]: report }))}
          mended=${mended}
        />`,
    )}
    ${sound.length > 0 && html`<${Sound} items=${sound} />`}
  `;
}

/** @param {{check: Check, report?: Report, told: (report: Report) => void, mended: (check: Check) => void}} props */
function Failing({ check, report, told, mended }) {
  const t = useWords(doctor);
  const [asking, setAsking] = useState(false);
  const repair = async (/** @type {string} */ reason) => {
    /** @type {Report} */
    const report = await post("/v1/doctor/repair", { check: check.check, reason });
    setAsking(false);
    told(report);
    mended(await after(report, check));
  };
  return html`<section class="card check" aria-label=${check.check}>
    <div class="check-head">
      <h2><code>${check.check}</code></h2>
      <${Tally} check=${check} />
      ${
        check.repair !== null &&
        check.count > 0 &&
        html`<button onClick=${() => setAsking(true)}>${t("repair_named", { check: check.check })}</button>`
      }
    </div>
    <p lang="en">${check.description}</p>
    ${report && html`<${Reported} report=${report} />`} ${check.rows.length > 0 && html`<${Rows} check=${check} />`}
    <${Facts}
      facts=${[
        [t("looked_at"), html`<span lang="en">${check.looked_at}</span>`],
        [t("repair_does"), check.repair === null ? t("no_repair") : html`<span lang="en">${check.repair}</span>`],
        [t("by_hand"), check.by_hand && html`<span lang="en">${check.by_hand}</span>`],
      ]}
    />
    ${
      asking &&
      html`<${Ask}
        title=${t("ask", { check: check.check })}
        verb=${t("repair")}
        reason
        act=${repair}
        leave=${() => setAsking(false)}
      >
        <p>${tallied(check, t)}</p>
        <p lang="en">${check.repair}</p>
        <p class="hint">${t("ask_bound")}</p>
      <//>`
    }
  </section>`;
}

/** How a check stands after a repair: looked at anew, alone, which is cheap; or as the repair tells.
 * @param {Report} report @param {Check} check @returns {Promise<Check>} */
async function after(report, check) {
  try {
    return (await get(pathWith("/v1/doctor", { check: check.check }))).body.items[0];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...check, ok: report.left === 0, count: report.left, rows: [] };
  }
}

/** @typedef {(name: "over" | "offenders", values: {count: number}) => string} Say */

/** @param {Check} check @param {Say} t */
const tallied = ({ count }, t) =>
  count >= MOST_COUNTED ? t("over", { count: MOST_COUNTED - 1 }) : t("offenders", { count });

/** How many offend; a check that nobody could look at has none, and does not hold either.
 * @param {{check: Check}} props */
function Tally({ check }) {
  const t = useWords(doctor);
  if (check.ok) return html`<${Chip} tone="good">${t("holds")}<//>`;
  if (check.count === 0) return html`<${Chip} tone="warn">${t("unknown")}<//>`;
  return html`<${Chip} tone="bad">${tallied(check, t)}<//>`;
}

/** Offenders by name; not all of them, where there are many. @param {{check: Check}} props */
function Rows({ check }) {
  const t = useWords(doctor);
  const { count, rows } = check;
  return html`<div class="stack">
    ${count > rows.length && html`<h3>${t("named", { count: rows.length })}</h3>`}
    <${Ids} ids=${rows} />
  </div>`;
}

/** @param {{report: Report}} props */
function Reported({ report }) {
  const t = useWords(doctor);
  return html`<div class="notice" role="status">
    <p>${t("mended", { count: report.count })} ${t(report.left ? "left" : "none_left", { count: report.left })}</p>
    ${
      report.rows.length > 0 &&
      html`<details class="fold">
        <summary>${t("which")}</summary>
        <${Ids} ids=${report.rows} />
      </details>`
    }
  </div>`;
}

/** @param {{items: Check[]}} props */
function Sound({ items }) {
  const t = useWords(doctor);
  return html`<details class="fold">
    <summary>${t("sound_ones", { count: items.length })}</summary>
    <${Table}
      caption=${t("must_hold")}
      rows=${items}
      id=${(/** @type {Check} */ { check }) => check}
      columns=${[
        { label: t("check"), cell: (/** @type {Check} */ { check }) => html`<code>${check}</code>` },
        {
          label: t("must_hold"),
          cell: (/** @type {Check} */ each) => html`<span lang="en">${each.description}</span>`,
        },
        { label: t("looked_at"), cell: (/** @type {Check} */ each) => html`<span lang="en">${each.looked_at}</span>` },
      ]}
    />
  </details>`;
}
