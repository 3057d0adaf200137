// @ts-check
/** Who did what, when and why. */

import { pathWith } from "../api.js";
import { useCaller } from "../caller.js";
import { html } from "../html.js";
import { Facts } from "../parts/facts.js";
import { Choice, Filters, Text } from "../parts/filters.js";
import { Page } from "../parts/page.js";
import { Listed, usePages } from "../parts/pages.js";
import { Ids, Named } from "../parts/place.js";
import { Table } from "../parts/table.js";
import { When } from "../parts/when.js";
import { href } from "../router.js";
import { isOperator } from "../session.js";
import { useNames, useWords } from "../words.js";
import { audit } from "../words/audit.js";
import { actions } from "../words/names.js";
import { shell } from "../words/shell.js";

export const parameters = ["action", "target", "actor", "tenant"];

/** @param {import("../pages.js").ViewProps} props */
export default function Audit({ query }) {
  const t = useWords(audit);
  const asked = Object.fromEntries(parameters.map((name) => [name, query.get(name)]));
  const pages = usePages(pathWith("/v1/audit", asked), { every: 10 });
  return html`<${Page} title=${t("title")} polled=${pages.polled}>
    <p class="hint">${t("hint")}</p>
    <${Fit} query=${query} />
    <${Listed} pages=${pages} empty=${t("none")}>
      ${(/** @type {any[]} */ items) => html`<${Acts} items=${items} />`}
    <//>
  <//>`;
}

/** @param {{query: URLSearchParams}} props */
function Fit({ query }) {
  const t = useWords(audit);
  const s = useWords(shell);
  const action = useNames(actions);
  const operator = isOperator(useCaller());
  return html`<${Filters} names=${parameters} query=${query}>
    <${Choice}
      label=${t("action")}
      name="action"
      query=${query}
      options=${Object.keys(actions.en).map((name) => [name, action(name)])}
    />
    <${Text} label=${t("target")} name="target" query=${query} hint=${t("target_hint")} />
    <${Text} label=${t("actor")} name="actor" query=${query} />
    ${operator && html`<${Text} label=${s("tenant")} name="tenant" query=${query} />`}
  <//>`;
}

/** @param {{items: any[]}} props */
function Acts({ items }) {
  const t = useWords(audit);
  const s = useWords(shell);
  const action = useNames(actions);
  const operator = isOperator(useCaller());
  return html`<${Table}
    caption=${t("title")}
    rows=${items}
    columns=${[
      { label: s("at"), cell: (/** @type {any} */ act) => html`<${When} time=${act.at} full />` },
      { label: t("action"), cell: (/** @type {any} */ act) => html`<span class="kept">${action(act.action)}</span>` },
      { label: t("target"), cell: (/** @type {any} */ act) => html`<div class="cell"><${Target} act=${act} /></div>` },
      ...(operator
        ? [
            {
              label: s("tenant"),
              cell: (/** @type {any} */ act) => html`<div class="name cell">${act.tenant_id ?? "–"}</div>`,
            },
          ]
        : []),
      {
        label: t("actor"),
        cell: (/** @type {any} */ act) => html`<div class="cell"><${Actor} id=${act.actor} /></div>`,
      },
      { label: s("reason"), cell: (/** @type {any} */ act) => html`<${Reason} act=${act} />` },
    ]}
  />`;
}

/** @param {{act: any}} props */
function Target({ act }) {
  const operator = isOperator(useCaller());
  if (act.action !== "doctor.repaired" || !operator) return html`<${Named} id=${act.target} />`;
  return html`<a class="id" href=${href(["doctor"])}>${act.target}</a>`;
}

/** Leads to whatever else was done with the key. @param {{id: string}} props */
function Actor({ id }) {
  const t = useWords(audit);
  return html`<a class="id" href=${href(["audit"], { actor: id })} title=${t("all_of_actor")}>${id}</a>`;
}

/** The reason, and what the API tells beside it. @param {{act: any}} props */
function Reason({ act }) {
  const t = useWords(audit);
  const s = useWords(shell);
  const told = Object.entries(act.detail).filter(([, value]) => value !== null);
  return html`<div class="act">
    ${act.reason === null ? html`<p class="none">–</p>` : html`<p>${act.reason}</p>`}
    <details class="fold">
      <summary>${t("detail")}</summary>
      <${Facts}
        facts=${[
          ...told.map(([name, value]) => [name, html`<${Told} value=${value} />`]),
          [t("request"), html`<code>${act.request_id}</code>`],
          [s("at"), html`<code>${act.at}</code>`],
        ]}
      />
    </details>
  </div>`;
}

/** One value of an act's detail, as the API gives it. @param {{value: unknown}} props */
function Told({ value }) {
  if (typeof value === "string") return html`<${Named} id=${value} />`;
  if (!Array.isArray(value)) return html`<code>${JSON.stringify(value)}</code>`;
  return html`<${Ids} ids=${value.map(String)} />`;
}
