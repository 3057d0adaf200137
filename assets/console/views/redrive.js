// @ts-check
/** One bulk redrive, followed live: how far it is, what it waits for, what it has redriven. */

import { useContext, useEffect, useRef, useState } from "preact/hooks";

import { pathWith, post, segment } from "../api.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { Ask } from "../parts/dialog.js";
import { Facts } from "../parts/facts.js";
import { Cause } from "../parts/cause.js";
import { Copy, Id } from "../parts/id.js";
import { Loading } from "../parts/loading.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { usePolled } from "../poll.js";
import { FilterWords } from "../redrives/filter.js";
import { Progress, Stopped } from "../redrives/progress.js";
import { RedriveChip, goesOn, underWay } from "../redrives/state.js";
import { href } from "../router.js";
import { Speech, useNames, useWords } from "../words.js";
import { skips } from "../words/names.js";
import { redrives } from "../words/redrives.js";

const SLOWEST_SECONDS = 15;

/** @param {import("../pages.js").ViewProps} props */
export default function Redrive({ params }) {
  const t = useWords(redrives);
  const polled = usePolled(`/v1/redrives/${segment(params.id ?? "")}`, {
    slowest: SLOWEST_SECONDS,
    until: (redrive) => !goesOn(redrive) && underWay(redrive) === 0,
  });
  const [stopping, setStopping] = useState(false);
  const redrive = polled.data;
  const acts = redrive && html`<${Acts} redrive=${redrive} stop=${() => setStopping(true)} />`;
  const leave = () => setStopping(false);
  return html`<${Page} title=${t("one")} polled=${polled} actions=${acts}>
    ${!redrive && (polled.error ? html`<${Problem} error=${polled.error} retry=${polled.refresh} />` : html`<${Loading} />`)}
    ${redrive && html`<${Whole} redrive=${redrive} />`}
    ${stopping && html`<${Stop} redrive=${redrive} refresh=${polled.refresh} leave=${leave} />`}
  <//>`;
}

/** @param {{redrive: any, stop: () => void}} props */
function Acts({ redrive, stop }) {
  const t = useWords(redrives);
  if (goesOn(redrive)) return html`<button class="danger" onClick=${stop}>${t("stop")}</button>`;
  if (redrive.state !== "stopped") return null;
  return html`<a class="button" href=${href(["redrives", "new"], redrive.filter)}>${t("again")}</a>`;
}

/** @param {{redrive: any}} props */
function Whole({ redrive }) {
  return html`
    <p class="letter-name">
      <${RedriveChip} state=${redrive.state} /> <${Id} id=${redrive.id} whole /> <${Copy} text=${redrive.id} />
    </p>
    <${Stopped} redrive=${redrive} />
    <${Progress} redrive=${redrive} />
    ${redrive.skipped > 0 && html`<${Skipped} redrive=${redrive} />`}
    <${Order} redrive=${redrive} />
    <${Redriven} redrive=${redrive} />
  `;
}

/** @param {{redrive: any}} props */
function Skipped({ redrive }) {
  const t = useWords(redrives);
  const language = useContext(Speech);
  const why = useNames(skips);
  return html`<section class="card" aria-label=${t("skipped_why")}>
    <h2>${t("skipped_why")}</h2>
    <ul class="plain">
      ${Object.entries(redrive.skipped_because).map(
        ([name, many]) =>
          html`<li key=${name}><b>${count(/** @type {number} */ (many), language)}</b> ${why(name)}</li>`,
      )}
    </ul>
    <p class="none">${t("stays_open")} <a href=${openLetters(redrive)}>${t("letters_open")}</a></p>
  </section>`;
}

/** @param {{redrive: any}} props */
function Order({ redrive }) {
  const t = useWords(redrives);
  const { canary, rate_per_minute: rate } = redrive;
  return html`<section class="card" aria-label=${t("order")}>
    <h2>${t("order")}</h2>
    <${Facts}
      facts=${[
        [t("fits"), html`<${FilterWords} filter=${redrive.filter} />`],
        [t("reason"), redrive.reason],
        [t("paced"), t("pace", { canary, rate })],
        [t("created"), html`<${When} time=${redrive.created_at} full />`],
        [t("created_by"), html`<code>${redrive.created_by}</code>`],
        [t("finished"), redrive.finished_at && html`<${When} time=${redrive.finished_at} full />`],
      ]}
    />
  </section>`;
}

/** The API lists no letters by their bulk redrive: those of its filter are looked through for its name.
 * @param {{redrive: any}} props */
function Redriven({ redrive }) {
  const t = useWords(redrives);
  const { before: _, ...filter } = redrive.filter;
  const pages = usePages(pathWith("/v1/dead-letters", { ...filter, status: "redriven" }), { every: 0 });
  const { refresh } = pages.polled;
  const known = useRef(redrive.started);
  useEffect(() => {
    if (known.current !== redrive.started) refresh();
    known.current = redrive.started;
  }, [redrive.started]);
  const items = pages.items?.filter((letter) => letter.redrive_id === redrive.id);
  // So many there are at most: further back there is nothing more.
  const own = { ...pages, items, next: items && items.length >= redrive.started ? null : pages.next };
  return html`<section class="stack">
    <h2>${t("letters")}</h2>
    ${redrive.failed > 0 && html`<p>${t("letters_hint")} <a href=${openLetters(redrive)}>${t("letters_open")}</a></p>`}
    <${Listed} pages=${own} empty=${t("no_letters")}>
      ${(/** @type {any[]} */ items) => html`<${LetterTable} items=${items} />`}
    <//>
  </section>`;
}

/** @param {{items: any[]}} props */
function LetterTable({ items }) {
  const t = useWords(redrives);
  return html`<${Table}
    caption=${t("letters")}
    rows=${items}
    columns=${[
      {
        label: t("letter"),
        cell: (/** @type {any} */ row) => html`<${Id} id=${row.id} to=${href(["dead-letters", row.id])} />`,
      },
      {
        label: t("job"),
        cell: (/** @type {any} */ row) => html`<${Id} id=${row.redriven_to} to=${href(["jobs", row.redriven_to])} />`,
      },
      { label: t("class"), cell: (/** @type {any} */ row) => html`<${Cause} of=${row} />` },
      { label: t("tenant"), cell: (/** @type {any} */ row) => html`<span class="name">${row.tenant_id}</span>` },
      { label: t("started"), cell: (/** @type {any} */ row) => html`<${When} time=${row.resolved_at} />` },
    ]}
  />`;
}

/** @param {any} redrive */
function openLetters({ filter }) {
  const { before: _, ...listed } = filter;
  return href(["dead-letters", "list"], listed);
}

/** @param {{redrive: any, refresh: () => void, leave: () => void}} props */
function Stop({ redrive, refresh, leave }) {
  const t = useWords(redrives);
  const act = async (/** @type {string} */ reason) => {
    try {
      await post(`/v1/redrives/${segment(redrive.id)}/stop`, { reason });
      leave();
    } finally {
      refresh();
    }
  };
  return html`<${Ask} title=${t("stop_title")} verb=${t("stop_verb")} danger reason act=${act} leave=${leave}>
    <p>${t("stop_what")}</p>
  <//>`;
}
