// @ts-check
/** One field of a form, with what is wrong with it right beside it. */

import { useId } from "preact/hooks";

import { html } from "../html.js";

/** @typedef {import("../api.js").Fault} Fault */

/** The faults of a member of the document, and of what is in it.
 * @param {Fault[]} faults @param {string} pointer such as `/input` */
export const faultsAt = (faults, pointer) =>
  faults.filter((fault) => fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`));

/** `children` makes the control, out of the attributes that tie it to its label, hint and faults.
 * @param {{label: string, hint?: any, pointer: string, faults: Fault[],
 *   children?: (attributes: Record<string, string | undefined>) => any}} props */
export function Field({ label, hint, pointer, faults, children }) {
  const id = useId();
  const own = faultsAt(faults, pointer);
  const told = [hint && `${id}-hint`, own.length && `${id}-faults`].filter(Boolean).join(" ");
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children?.({ id, "aria-describedby": told || undefined, "aria-invalid": own.length ? "true" : undefined })}
    ${hint && html`<p id=${`${id}-hint`} class="hint">${hint}</p>`}
    ${
      own.length > 0 &&
      html`<ul id=${`${id}-faults`} class="faults refusal">
        ${own.map(
          (fault) =>
            html`<li key=${fault.pointer + fault.code}>
              ${fault.pointer !== pointer && html`<code>${fault.pointer}</code> `}${fault.detail}
            </li>`,
        )}
      </ul>`
    }
  </div>`;
}
