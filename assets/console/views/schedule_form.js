// @ts-check
/** Making a schedule, or changing one. It is put whole, and over nobody's change unseen. */

import { useEffect, useRef } from "preact/hooks";

import { html } from "../html.js";
import { Field } from "../parts/field.js";
import { Loading } from "../parts/loading.js";
import { useLook } from "../parts/look.js";
import { Page } from "../parts/page.js";
import { Problem } from "../parts/problem.js";
import { href } from "../router.js";
import { Clash } from "../schedules/clash.js";
import { schedulePath } from "../schedules/document.js";
import { Clockwork, Conduct, Work } from "../schedules/fields.js";
import { useSaving } from "../schedules/saving.js";
import { useWords } from "../words.js";
import { schedules } from "../words/schedules.js";
import { shell } from "../words/shell.js";

/** @typedef {import("../schedules/document.js").Schedule} Schedule */

/** @param {import("../pages.js").ViewProps} props */
export default function ScheduleForm({ params }) {
  const t = useWords(schedules);
  const { name } = params;
  if (name === undefined) return html`<${Page} title=${t("create")}><${Form} known=${null} /><//>`;
  return html`<${Page} title=${t("edit_title", { name })}><${Edit} name=${name} /><//>`;
}

/** @param {{name: string}} props */
function Edit({ name }) {
  const { data, error, look } = useLook(schedulePath(name));
  if (data) return html`<${Form} known=${data} />`;
  return error ? html`<${Problem} error=${error} retry=${look} />` : html`<${Loading} />`;
}

/** `known` is what is being changed, as it was read. @param {{known: Schedule | null}} props */
function Form({ known }) {
  const t = useWords(schedules);
  const s = useWords(shell);
  const { draft, change, faults, refusals, error, clash, busy, save, settle } = useSaving(known);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => {
    const wrong = /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector('[aria-invalid="true"]'));
    wrong?.focus();
  }, [refusals]);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    save();
  };
  const fields = { draft, change, faults };
  const back = known === null ? href(["schedules"]) : href(["schedules", known.name]);
  return html`<form ref=${form} class="schedule" onSubmit=${submit} novalidate>
    ${
      known === null &&
      html`<${Field} label=${t("name")} hint=${t("name_hint")} pointer="/name" faults=${faults}>
        ${(/** @type {any} */ given) =>
          html`<input
            ...${given}
            value=${draft.name}
            autocomplete="off"
            spellcheck=${false}
            onInput=${(/** @type {any} */ event) => change({ name: event.currentTarget.value.trim() })}
          />`}
      <//>`
    }
    <fieldset>
      <legend>${t("when")}</legend>
      <${Clockwork} ...${fields} />
    </fieldset>
    <fieldset>
      <legend>${t("work")}</legend>
      <${Work} ...${fields} />
    </fieldset>
    <fieldset>
      <legend>${t("conduct")}</legend>
      <${Conduct} ...${fields} />
    </fieldset>
    ${error && html`<${Problem} error=${error} />`}
    ${clash && html`<${Clash} clash=${clash} creating=${known === null} settle=${settle} />`}
    <div class="actions">
      <button class="primary" disabled=${busy}>${t("save")}</button>
      <a class="button" href=${back}>${s("cancel")}</a>
    </div>
  </form>`;
}
