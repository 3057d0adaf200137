// @ts-check
/** Asking before acting: says what will be touched, takes the reason, shows what went wrong. */

import { useEffect, useId, useRef, useState } from "preact/hooks";

import { ApiError } from "../api.js";
import { html } from "../html.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";
import { Problem } from "./problem.js";

const LONGEST_REASON = 500;

/**
 * A dialog that is open for as long as it is shown. `act` gets the reason and does the deed; when it
 * fails the dialog stays, with the API's words. Escape and the button leave without acting; `stay` is
 * the button's word where "Cancel" would be in doubt.
 * @param {{title: string, verb: string, stay?: string, danger?: boolean, reason?: boolean, ready?: boolean,
 *   act: (reason: string) => Promise<void>, leave: () => void, children?: any}} props
 */
export function Ask({ title, verb, stay, danger = false, reason = false, ready = true, act, leave, children }) {
  const t = useWords(shell);
  const name = useId();
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const acting = useRef(false); // at once, where a second press could come before the next drawing
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close(); // gives the focus back to where it was
  }, []);

  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (acting.current) return;
    acting.current = true;
    setBusy(true);
    setError(null);
    try {
      await act(why.trim().replace(/\s+/g, " ")); // the API takes one line
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setError(problem);
    } finally {
      acting.current = false;
      setBusy(false);
    }
  };

  return html`<dialog ref=${dialog} aria-labelledby=${`${name}-title`} onClose=${leave}>
    <form onSubmit=${submit} class="stack">
      <h2 id=${`${name}-title`}>${title}</h2>
      ${children}
      ${
        reason &&
        html`<label for=${`${name}-reason`}>${t("reason")}</label>
          <textarea
            id=${`${name}-reason`}
            required
            maxlength=${LONGEST_REASON}
            rows="2"
            aria-describedby=${`${name}-hint`}
            value=${why}
            onInput=${(/** @type {any} */ event) => setWhy(event.currentTarget.value)}
          ></textarea>
          <p id=${`${name}-hint`} class="hint">${t("reason_hint")}</p>`
      }
      ${error && html`<${Problem} error=${error} />`}
      <div class="actions">
        <button type="button" onClick=${() => dialog.current?.close()}>${stay ?? t("cancel")}</button>
        <button class=${danger ? "danger" : "primary"} disabled=${busy || !ready || (reason && !why.trim())}>
          ${verb}
        </button>
      </div>
    </form>
  </dialog>`;
}
