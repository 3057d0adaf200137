// @ts-check
/** All bulk redrives, newest first. */

import { useContext } from "preact/hooks";

import { count } from "../format.js";
import { html } from "../html.js";
import { Id } from "../parts/id.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { FilterWords } from "../redrives/filter.js";
import { RedriveChip } from "../redrives/state.js";
import { href } from "../router.js";
import { Speech, useWords } from "../words.js";
import { redrives } from "../words/redrives.js";
import { shell } from "../words/shell.js";

export default function Redrives() {
  const t = useWords(redrives);
  const s = useWords(shell);
  const pages = usePages("/v1/redrives");
  const actions = html`<a class="button" href=${href(["redrives", "new"])}>${t("new_link")}</a>`;
  return html`<${Page} title=${s("redrives")} polled=${pages.polled} actions=${actions}>
    <${Listed} pages=${pages} empty=${t("none")}>
      ${(/** @type {any[]} */ items) => html`<${RedriveTable} items=${items} />`}
    <//>
  <//>`;
}

/** @param {{items: any[]}} props */
function RedriveTable({ items }) {
  const t = useWords(redrives);
  const s = useWords(shell);
  const language = useContext(Speech);
  const figures = /** @type {const} */ (["total", "started", "succeeded", "failed", "skipped"]);
  return html`<${Table}
    caption=${s("redrives")}
    rows=${items}
    columns=${[
      {
        label: t("one"),
        cell: (/** @type {any} */ row) => html`<${Id} id=${row.id} to=${href(["redrives", row.id])} />`,
      },
      { label: t("state"), cell: (/** @type {any} */ row) => html`<${RedriveChip} state=${row.state} />` },
      { label: t("fits"), cell: (/** @type {any} */ row) => html`<${FilterWords} filter=${row.filter} />` },
      { label: t("reason"), cell: (/** @type {any} */ row) => html`<span class="name">${row.reason}</span>` },
      { label: t("created"), cell: (/** @type {any} */ row) => html`<${When} time=${row.created_at} />` },
      ...figures.map((name) => ({
        label: t(name),
        numeric: true,
        cell: (/** @type {any} */ row) => count(row[name], language),
      })),
    ]}
  />`;
}
