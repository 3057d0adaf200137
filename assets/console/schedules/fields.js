// @ts-check
/** The fields of a schedule's form. */

import { useId } from "preact/hooks";

import { html } from "../html.js";
import { Field, faultsAt } from "../parts/field.js";
import { useNames, useWords } from "../words.js";
import { kinds, overlaps } from "../words/names.js";
import { schedules } from "../words/schedules.js";
import { FORMS, usualRunKey } from "./draft.js";
import { Preview } from "./preview.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("../api.js").Fault} Fault */
/** @typedef {{draft: Draft, change: (changes: Partial<Draft>) => void, faults: Fault[]}} FieldsProps */

/** When. @param {FieldsProps} props */
export function Clockwork({ draft, change, faults }) {
  const t = useWords(schedules);
  const zones = useId();
  const refused = ["/cron", "/timezone"].some((pointer) => faultsAt(faults, pointer).length > 0);
  return html`
    <${Field} label=${t("cron")} hint=${t("cron_hint")} pointer="/cron" faults=${faults}>
      ${(/** @type {any} */ given) =>
        html`<input
          ...${given}
          class="code"
          value=${draft.cron}
          autocomplete="off"
          spellcheck=${false}
          placeholder="30 7 * * 1-5"
          onInput=${(/** @type {any} */ event) => change({ cron: event.currentTarget.value })}
        />`}
    <//>
    <${Field} label=${t("timezone")} hint=${t("timezone_hint")} pointer="/timezone" faults=${faults}>
      ${(/** @type {any} */ given) =>
        html`<input
          ...${given}
          value=${draft.timezone}
          list=${zones}
          autocomplete="off"
          spellcheck=${false}
          onInput=${(/** @type {any} */ event) => change({ timezone: event.currentTarget.value.trim() })}
        />`}
    <//>
    <datalist id=${zones}>
      ${["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => html`<option key=${zone} value=${zone}></option>`)}
    </datalist>
    ${!refused && html`<${Preview} cron=${draft.cron} timezone=${draft.timezone} />`}
  `;
}

/** What. @param {FieldsProps} props */
export function Work({ draft, change, faults }) {
  const t = useWords(schedules);
  const kind = useNames(kinds);
  const known = Object.keys(kinds.en);
  const all = known.includes(draft.kind) ? known : [...known, draft.kind];
  const select = { options: /** @type {[string, string][]} */ (all.map((name) => [name, kind(name)])) };
  const forms = FORMS.map((form) => /** @type {[string, string]} */ ([form, t(form)]));
  return html`
    <${Field} label=${t("kind")} pointer="/kind" faults=${faults}>
      ${(/** @type {any} */ given) =>
        html`<${Select}
          ...${select}
          given=${given}
          value=${draft.kind}
          change=${(/** @type {string} */ to) => change({ kind: to })}
        />`}
    <//>
    <${Field} label=${t("form")} pointer="/form" faults=${faults}>
      ${(/** @type {any} */ given) =>
        html`<${Select}
          options=${forms}
          given=${given}
          value=${draft.form}
          change=${(/** @type {any} */ to) => change({ form: to })}
        />`}
    <//>
    <${Field} label=${t("input")} hint=${t(`${draft.form}_hint`)} pointer="/input" faults=${faults}>
      ${(/** @type {any} */ given) =>
        html`<textarea
          ...${given}
          rows=${draft.form === "ref" ? 1 : 6}
          value=${draft.input}
          spellcheck=${draft.form === "text"}
          onInput=${(/** @type {any} */ event) => change({ input: event.currentTarget.value })}
        ></textarea>`}
    <//>
    <${Field} label=${t("params")} hint=${t("params_hint")} pointer="/params" faults=${faults}>
      ${(/** @type {any} */ given) =>
        html`<textarea
          ...${given}
          class="code"
          rows="3"
          value=${draft.params}
          spellcheck=${false}
          onInput=${(/** @type {any} */ event) => change({ params: event.currentTarget.value })}
        ></textarea>`}
    <//>
  `;
}

/** How. @param {FieldsProps} props */
export function Conduct({ draft, change, faults }) {
  const t = useWords(schedules);
  const overlap = useNames(overlaps);
  const skips = draft.overlap === "skip";
  const options = Object.keys(overlaps.en).map((name) => /** @type {[string, string]} */ ([name, overlap(name)]));
  return html`
    <${Field} label=${t("overlap")} hint=${t(skips ? "skip_means" : "allow_means")} pointer="/overlap" faults=${faults}>
      ${(/** @type {any} */ given) =>
        html`<${Select}
          options=${options}
          given=${given}
          value=${draft.overlap}
          change=${(/** @type {string} */ to) => change({ overlap: to })}
        />`}
    <//>
    ${
      skips &&
      html`<${Field} label=${t("run_key")} hint=${t("run_key_hint")} pointer="/run_key" faults=${faults}>
        ${(/** @type {any} */ given) =>
          html`<input
            ...${given}
            value=${draft.run_key}
            autocomplete="off"
            placeholder=${usualRunKey(draft.name || "…")}
            onInput=${(/** @type {any} */ event) => change({ run_key: event.currentTarget.value })}
          />`}
      <//>`
    }
    <label class="tick">
      <input
        type="checkbox"
        checked=${draft.enabled}
        onChange=${(/** @type {any} */ event) => change({ enabled: event.currentTarget.checked })}
      />
      ${t("enabled_tick")}
    </label>
  `;
}

/** @param {{options: [string, string][], given: any, value: string, change: (to: string) => void}} props */
const Select = ({ options, given, value, change }) =>
  html`<select ...${given} value=${value} onChange=${(/** @type {any} */ event) => change(event.currentTarget.value)}>
    ${options.map(([name, text]) => html`<option key=${name} value=${name}>${text}</option>`)}
  </select>`;
