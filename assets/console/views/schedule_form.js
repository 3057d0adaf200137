// @ts-check
/** Making a schedule, or changing one. It is put whole, and over nobody's change unseen. */

import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, put } from "../api.js";
import { html } from "../html.js";
import { Field } from "../parts/field.js";
import { Loading } from "../parts/loading.js";
import { useLook } from "../parts/look.js";
import { Page } from "../parts/page.js";
import { Problem } from "../parts/problem.js";
import { href, navigate } from "../router.js";
import { Clash } from "../schedules/clash.js";
import { differing, readSchedule, schedulePath, wantedOf } from "../schedules/document.js";
import { blank, draftOf, readDraft } from "../schedules/draft.js";
import { Clockwork, Conduct, Work } from "../schedules/fields.js";
import { useWords } from "../words.js";
import { schedules } from "../words/schedules.js";
import { shell } from "../words/shell.js";

/** @typedef {import("../schedules/document.js").Schedule} Schedule */
/** @typedef {import("../schedules/draft.js").Draft} Draft */
/** @typedef {import("../api.js").Fault} Fault */

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
  const { draft, change, faults, error, clash, busy, save, settle } = useSaving(known);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => {
    const wrong = /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector('[aria-invalid="true"]'));
    wrong?.focus();
  }, [faults]);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    save(draft);
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

/** @typedef {{now: Schedule | null, members: string[]}} ClashFound  how it is by now, and what differs */

/** The draft, and saving it. @param {Schedule | null} known */
function useSaving(known) {
  const t = useWords(schedules);
  const [draft, setDraft] = useState(() => (known ? draftOf(known) : blank()));
  const [base, setBase] = useState(known); // how it is, as far as whoever saves has seen
  const [faults, setFaults] = useState(/** @type {Fault[]} */ ([]));
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const [clash, setClash] = useState(/** @type {ClashFound | null} */ (null));
  const [busy, setBusy] = useState(false);

  const attempt = async (/** @type {Draft} */ wish, /** @type {Schedule | null} */ seen) => {
    const { wanted, faults: own } = readDraft(wish, t);
    if (own.length) return setFaults(own);
    const now = await readSchedule(wish.name);
    // An earlier answer may have been lost: then it is as it is wished already.
    if (now === null || differing(wanted, wantedOf(now)).length) {
      const found = clashOf(seen, now);
      if (found) return setClash(found);
      await put(schedulePath(wish.name), wanted);
    }
    navigate(href(["schedules", wish.name]));
  };
  const save = async (/** @type {Draft} */ wish, seen = base) => {
    if (busy) return;
    setBusy(true);
    setFaults([]);
    setError(null);
    setClash(null);
    try {
      await attempt(wish, seen);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setFaults(problem.faults);
      if (!allPlaced(problem.faults)) setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const settle = (/** @type {Schedule | null} */ now, /** @type {boolean} */ mine) => {
    setBase(now);
    if (mine) return save(draft, now);
    setClash(null);
    if (now) setDraft(draftOf(now));
  };
  const change = (/** @type {Partial<Draft>} */ changes) => setDraft((before) => ({ ...before, ...changes }));
  return { draft, change, faults, error, clash, busy, save, settle };
}

/** What somebody has done to it since it was seen, if anything.
 * @param {Schedule | null} seen @param {Schedule | null} now @returns {ClashFound | null} */
function clashOf(seen, now) {
  if (seen === null || now === null) return seen === now ? null : { now, members: [] };
  const members = differing(wantedOf(seen), wantedOf(now));
  return members.length ? { now, members } : null;
}

const PLACED = /^\/(name|cron|timezone|kind|input|params|overlap|run_key)(\/|$)/;

/** Whether each fault is shown beside its field. @param {Fault[]} faults */
const allPlaced = (faults) => faults.length > 0 && faults.every(({ pointer }) => PLACED.test(pointer));
