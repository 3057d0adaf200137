// @ts-check
/** Dead letters, by what failed in the same way: a hundred failures are mostly two or three causes. */

import { useContext } from "preact/hooks";

import { pathWith } from "../api.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { GROUP_FILTERS, LetterFilters, asked, statusIn } from "../letters/filters.js";
import { Cause } from "../parts/cause.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { Speech, useNames, useWords } from "../words.js";
import { letters } from "../words/letters.js";
import { kinds, verdicts } from "../words/names.js";
import { shell } from "../words/shell.js";

// All that fit are counted, each time: not so often.
const EVERY_SECONDS = 30;

export { GROUP_FILTERS as parameters } from "../letters/filters.js";

/** @param {import("../pages.js").ViewProps} props */
export default function LetterGroups({ query }) {
  const t = useWords(letters);
  const s = useWords(shell);
  const pages = usePages(pathWith("/v1/dead-letters/groups", asked(GROUP_FILTERS, query)), { every: EVERY_SECONDS });
  const actions = html`<a class="button" href=${href(["dead-letters", "list"], query)}>${t("one_by_one")}</a>
    <a class="button" href=${href(["redrives", "new"], withoutStatus(query))}>${t("bulk")}</a>`;
  return html`<${Page} title=${s("dead_letters")} polled=${pages.polled} actions=${actions}>
    <${LetterFilters} names=${GROUP_FILTERS} query=${query} />
    <${Listed} pages=${pages} empty=${t("no_groups")}>
      ${(/** @type {any[]} */ items) => html`<${Groups} items=${items} query=${query} />`}
    <//>
  <//>`;
}

/** @param {{items: any[], query: URLSearchParams}} props */
function Groups({ items, query }) {
  const t = useWords(letters);
  const language = useContext(Speech);
  const kind = useNames(kinds);
  const members = (/** @type {any} */ group) =>
    href(["dead-letters", "list"], {
      fingerprint: group.fingerprint,
      tenant: query.get("tenant"),
      status: query.get("status"),
    });
  return html`<${Table}
    caption=${t("groups")}
    rows=${items}
    id=${(/** @type {any} */ group) => group.fingerprint}
    columns=${[
      { label: t("what"), cell: (/** @type {any} */ group) => html`<${Cause} of=${group} to=${members(group)} />` },
      { label: t("count"), numeric: true, cell: (/** @type {any} */ group) => count(group.count, language) },
      { label: t("tenants"), numeric: true, cell: (/** @type {any} */ group) => count(group.tenants, language) },
      {
        label: t("kind"),
        cell: (/** @type {any} */ group) =>
          html`<span class="short">${group.kind === null ? "–" : kind(group.kind)}</span>`,
      },
      { label: t("last"), cell: (/** @type {any} */ group) => html`<${When} time=${group.last_failed_at} />` },
      { label: t("first"), cell: (/** @type {any} */ group) => html`<${When} time=${group.first_failed_at} />` },
      { label: t("todo"), cell: (/** @type {any} */ group) => html`<${Todo} group=${group} query=${query} />` },
    ]}
  />`;
}

/** What helps, and the way there: what needs a patch, or is no job's, is nothing for a bulk redrive.
 * @param {{group: any, query: URLSearchParams}} props */
function Todo({ group, query }) {
  const t = useWords(letters);
  const verdict = useNames(verdicts);
  const bulk = statusIn(query) === "open" && group.kind !== null && group.verdict !== "fix_input";
  const which = { fingerprint: group.fingerprint, tenant: query.get("tenant") };
  return html`<div class="todo">
    <span>${group.kind === null ? t("find_sender") : verdict(group.verdict)}</span>
    ${bulk && html`<a href=${href(["redrives", "new"], which)}>${t("bulk_group")}</a>`}
  </div>`;
}

/** @param {URLSearchParams} query */
function withoutStatus(query) {
  const rest = new URLSearchParams(query);
  rest.delete("status");
  return rest;
}
