// @ts-check
/** Dead letters one by one, the last to fail first. */

import { pathWith } from "../api.js";
import { html } from "../html.js";
import { GROUP_FILTERS, LETTER_FILTERS, LetterFilters, asked, isNarrower, statusIn } from "../letters/filters.js";
import { Due, Kept, StatusChip } from "../letters/status.js";
import { Cause } from "../parts/cause.js";
import { Id } from "../parts/id.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { useNames, useWords } from "../words.js";
import { letters } from "../words/letters.js";
import { kinds } from "../words/names.js";
import { shell } from "../words/shell.js";

export { LETTER_FILTERS as parameters } from "../letters/filters.js";

/** @param {import("../pages.js").ViewProps} props */
export default function Letters({ query }) {
  const t = useWords(letters);
  const pages = usePages(pathWith("/v1/dead-letters", asked(LETTER_FILTERS, query)));
  const which = Object.fromEntries(
    GROUP_FILTERS.filter((name) => name !== "status").map((name) => [name, query.get(name)]),
  );
  // No bulk redrive can be told to take only what is urgent: it would take more than is shown.
  const bulk = statusIn(query) === "open" && !isNarrower(query);
  const meant = { ...which, fingerprint: query.get("fingerprint") };
  const actions = html`<a class="button" href=${href(["dead-letters"], which)}>${t("groups")}</a>
    ${bulk && html`<a class="button" href=${href(["redrives", "new"], meant)}>${t("bulk")}</a>`}`;
  return html`<${Page} title=${t("list")} polled=${pages.polled} actions=${actions}>
    <${LetterFilters} names=${LETTER_FILTERS} query=${query} />
    <${Listed} pages=${pages} empty=${t("no_letters")}>
      ${(/** @type {any[]} */ items) => html`<${LetterTable} items=${items} />`}
    <//>
  <//>`;
}

/** @param {{items: any[]}} props */
function LetterTable({ items }) {
  const t = useWords(letters);
  const s = useWords(shell);
  const kind = useNames(kinds);
  return html`<${Table}
    caption=${t("list")}
    rows=${items}
    columns=${[
      {
        label: t("letter"),
        cell: (/** @type {any} */ row) => html`<${Id} id=${row.id} to=${href(["dead-letters", row.id])} />`,
      },
      { label: t("what"), cell: (/** @type {any} */ row) => html`<${Cause} of=${row} />` },
      { label: t("status"), cell: (/** @type {any} */ row) => html`<${StatusChip} status=${row.status} />` },
      {
        label: t("kind"),
        cell: (/** @type {any} */ row) => html`<span class="short">${row.kind === null ? "–" : kind(row.kind)}</span>`,
      },
      { label: s("tenant"), cell: (/** @type {any} */ row) => html`<span class="name">${row.tenant_id ?? "–"}</span>` },
      { label: t("failed"), cell: (/** @type {any} */ row) => html`<${When} time=${row.last_failed_at} />` },
      { label: t("triage"), cell: (/** @type {any} */ row) => html`<${Due} letter=${row} />` },
      { label: t("kept"), cell: (/** @type {any} */ row) => html`<${Kept} letter=${row} />` },
    ]}
  />`;
}
