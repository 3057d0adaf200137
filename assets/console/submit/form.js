// @ts-check
/** The form of one kind of job. */

import { useCallback, useContext, useMemo, useState } from "preact/hooks";

import { html } from "../html.js";
import { href, navigate, setQuery } from "../router.js";
import { Speech, useNames, useWords } from "../words.js";
import { kinds } from "../words/names.js";
import { kindHints } from "../words/params.js";
import { submit } from "../words/submit.js";
import { EMPTY, slipsOf } from "./draft.js";
import { useDropped } from "./drop.js";
import { controlOf, Faults, Refusal, Summary } from "./faults.js";
import { Field } from "./field.js";
import { Input } from "./input.js";
import { Metadata } from "./metadata.js";
import { useSending } from "./send.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("./kinds.js").Offer} Offer */
/** @typedef {import("./kinds.js").Kind} Kind */
/** @typedef {import("../api.js").Fault} Fault */

/** @param {{offer: Offer, kind: Kind}} props */
export function Form({ offer, kind }) {
  const t = useWords(submit);
  const language = useContext(Speech);
  const [draft, setDraft] = useState(EMPTY);
  const [slips, setSlips] = useState(/** @type {import("./draft.js").Slip[]} */ ([]));
  const sending = useSending((job) => navigate(href(["jobs", job.id])));
  const change = useCallback(
    (/** @type {Partial<Draft>} */ changes) => setDraft((old) => ({ ...old, ...changes })),
    [],
  );
  useDropped(draft, kind, change);
  const choose = (/** @type {string} */ name) => {
    setSlips([]);
    sending.forget();
    setQuery({ kind: name });
  };
  const send = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const found = slipsOf(draft, kind);
    setSlips(found);
    if (found.length) sending.forget();
    else sending.send(draft, kind, offer);
  };
  const faults = useMemo(
    () =>
      slips.length
        ? slips.map(({ pointer, word, name = "" }) => told(pointer, word, t(word, { name })))
        : (sending.error?.faults ?? []),
    [slips, sending.error, language],
  );
  const part = { draft, kind, offer, change };
  return html`<${Faults.Provider} value=${faults}>
    <form class="submit" onSubmit=${send} novalidate>
      ${faults.length > 0 ? html`<${Summary} faults=${faults} of=${slips.length ? slips : sending.error} />` : sending.error && html`<${Refusal} error=${sending.error} />`}
      <${KindChoice} offer=${offer} kind=${kind} choose=${choose} />
      <${Input} ...${part} />
      <${Params} ...${part} />
      <${Advanced} ...${part} />
      <${Send} sending=${sending} />
    </form>
  <//>`;
}

/** @param {string} pointer @param {string} code @param {string} detail @returns {Fault} */
const told = (pointer, code, detail) => ({ pointer, code, detail });

/** @param {{offer: Offer, kind: Kind, choose: (name: string) => void}} props */
function KindChoice({ offer, kind, choose }) {
  const t = useWords(submit);
  const [name, hint] = [useNames(kinds), useNames(kindHints)];
  return html`<fieldset class="kinds" id=${controlOf("/kind")} tabindex="-1">
    <legend>${t("kind")}</legend>
    ${offer.kinds.map(
      (one) =>
        html`<label key=${one.name}>
          <input type="radio" name="kind" checked=${one === kind} onChange=${() => choose(one.name)} />
          <span>
            <b class="name">${name(one.name)}</b>
            <span class="hint">${hint(one.name) === one.name ? one.about : hint(one.name)}</span>
          </span>
        </label>`,
    )}
  </fieldset>`;
}

/** @typedef {import("./input.js").Part} Part */

/** @param {Part} props */
function Params({ draft, kind, change }) {
  const t = useWords(submit);
  return html`<fieldset class="grid" id=${controlOf("/params")} tabindex="-1">
    <legend>${t("params")}</legend>
    ${kind.fields.length ? html`<${Fields} fields=${kind.fields} draft=${draft} change=${change} />` : html`<p class="hint">${t("no_params")}</p>`}
  </fieldset>`;
}

/** @param {Part} props */
function Advanced({ draft, offer, change }) {
  const t = useWords(submit);
  return html`<details class="card">
    <summary>${t("advanced")}</summary>
    <div class="grid"><${Fields} fields=${offer.common} draft=${draft} change=${change} /></div>
    <${Metadata}
      pairs=${draft.pairs}
      most=${offer.mostPairs}
      change=${(/** @type {any} */ pairs) => change({ pairs })}
    />
  </details>`;
}

/** @param {{fields: import("./kinds.js").Field[], draft: Draft, change: Part["change"]}} props */
function Fields({ fields, draft, change }) {
  const set = (/** @type {string} */ pointer, /** @type {string} */ value) =>
    change({ values: { ...draft.values, [pointer]: value } });
  return fields.map(
    (field) =>
      html`<${Field}
        key=${field.pointer}
        field=${field}
        value=${draft.values[field.pointer] ?? ""}
        change=${(/** @type {string} */ value) => set(field.pointer, value)}
      />`,
  );
}

/** @param {{sending: ReturnType<typeof useSending>}} props */
function Send({ sending }) {
  const t = useWords(submit);
  const { step, error, stop } = sending;
  const uploading = step !== null && step !== "job";
  return html`<div class="actions">
    <button class="primary" disabled=${step !== null}>${t(error?.status === 0 ? "send_again" : "send")}</button>
    ${uploading && html`<button type="button" onClick=${stop}>${t("stop")}</button>`}
    <p role="status" class="name">
      ${uploading && t("uploading", { at: step.upload, of: step.of, name: step.name ?? t("a_text") })}
      ${step === "job" && t("sending")}
    </p>
  </div>`;
}
