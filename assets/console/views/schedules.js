// @ts-check
/** The list of schedules, by name. */

import { pathWith } from "../api.js";
import { useCaller } from "../caller.js";
import { html } from "../html.js";
import { Filters, Text } from "../parts/filters.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Table } from "../parts/table.js";
import { href } from "../router.js";
import { Enabled, Last, Next } from "../schedules/times.js";
import { isOperator, mayWrite } from "../session.js";
import { useNames, useWords } from "../words.js";
import { kinds, overlaps } from "../words/names.js";
import { schedules } from "../words/schedules.js";
import { shell } from "../words/shell.js";

/** @typedef {import("../schedules/document.js").Schedule} Schedule */

export const parameters = ["tenant"];

/** @param {import("../pages.js").ViewProps} props */
export default function Schedules({ query }) {
  const t = useWords(schedules);
  const s = useWords(shell);
  const caller = useCaller();
  const operator = isOperator(caller);
  const pages = usePages(pathWith("/v1/schedules", { tenant: query.get("tenant") }), { every: 15 });
  const create = mayWrite(caller) && html`<a class="button" href=${href(["schedules", "-"])}>${t("create")}</a>`;
  return html`<${Page} title=${t("title")} polled=${pages.polled} actions=${create}>
    ${
      operator &&
      html`<${Filters} names=${["tenant"]} query=${query}>
        <${Text} label=${s("tenant")} name="tenant" query=${query} />
      <//>`
    }
    <${Listed} pages=${pages} empty=${t("none")}>
      ${(/** @type {Schedule[]} */ items) => html`<${Rows} items=${items} />`}
    <//>
  <//>`;
}

/** @param {{items: Schedule[]}} props */
function Rows({ items }) {
  const t = useWords(schedules);
  const s = useWords(shell);
  const [kind, overlap] = [useNames(kinds), useNames(overlaps)];
  const operator = isOperator(useCaller());
  return html`<${Table}
    caption=${t("title")}
    rows=${items}
    id=${(/** @type {Schedule} */ each) => `${each.tenant_id}/${each.name}`}
    columns=${[
      { label: t("name"), cell: (/** @type {Schedule} */ each) => html`<${Name} schedule=${each} />` },
      ...(operator
        ? [
            {
              label: s("tenant"),
              cell: (/** @type {Schedule} */ each) => html`<span class="name">${each.tenant_id}</span>`,
            },
          ]
        : []),
      { label: t("enabled"), cell: (/** @type {Schedule} */ each) => html`<${Enabled} enabled=${each.enabled} />` },
      { label: t("cron"), cell: (/** @type {Schedule} */ each) => html`<${Cron} schedule=${each} />` },
      { label: t("next"), cell: (/** @type {Schedule} */ each) => html`<${Next} schedule=${each} />` },
      { label: t("last"), cell: (/** @type {Schedule} */ each) => html`<${Last} schedule=${each} />` },
      { label: t("kind"), cell: (/** @type {Schedule} */ each) => html`<span class="kept">${kind(each.kind)}</span>` },
      {
        label: t("overlap"),
        cell: (/** @type {Schedule} */ each) => html`<span class="kept">${overlap(each.overlap)}</span>`,
      },
    ]}
  />`;
}

/** @param {{schedule: Schedule}} props */
function Name({ schedule }) {
  const tenant = isOperator(useCaller()) ? schedule.tenant_id : null;
  return html`<a class="name" href=${href(["schedules", schedule.name], { tenant })}>${schedule.name}</a>`;
}

/** @param {{schedule: Schedule}} props */
const Cron = ({ schedule }) =>
  html`<div class="moments">
    <code>${schedule.cron}</code>
    <span class="zone">${schedule.timezone}</span>
  </div>`;
