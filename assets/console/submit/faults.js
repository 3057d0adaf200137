// @ts-check
/** What the API, or the form itself, finds wrong: at its field, and all of it at the top. */

import { createContext } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";

import { html } from "../html.js";
import { Problem } from "../parts/problem.js";
import { href } from "../router.js";
import { useWords } from "../words.js";
import { submit } from "../words/submit.js";

/** @typedef {import("../api.js").Fault} Fault */

/** All that is wrong, for every field below. */
export const Faults = createContext(/** @type {Fault[]} */ ([]));

/** The id of the control for a member of the request. @param {string} pointer */
export const controlOf = (pointer) => `at:${pointer}`;

/** Whether a fault is at a member, or at something within it. @param {Fault} fault @param {string} pointer */
const isAt = (fault, pointer) => fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`);

/** The faults at a field, and the attributes that tell of them. @param {string} pointer @param {string} [hint]  the id of its hint */
export function useFaults(pointer, hint) {
  const faults = useContext(Faults).filter((fault) => isAt(fault, pointer));
  const id = `${controlOf(pointer)}-fault`;
  const described = [hint, faults.length ? id : null].filter(Boolean).join(" ");
  const told = {
    "aria-invalid": faults.length ? "true" : undefined,
    "aria-describedby": described || undefined,
  };
  const shown =
    faults.length > 0 &&
    html`<ul class="faults refusal" id=${id}>
      ${faults.map((fault, at) => html`<li key=${at}>${fault.detail}</li>`)}
    </ul>`;
  return { told, shown };
}

/** The fields are the form's: a fault whose field it lacks is told at the top alone. `of`: the try that
 * they are of.
 * @param {{faults: Fault[], of: object | null}} props */
export function Summary({ faults, of }) {
  const t = useWords(submit);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => box.current?.focus(), [of]);
  return html`<div class="problem" role="alert" tabindex="-1" ref=${box}>
    <p>${t("faults", { count: faults.length })}</p>
    <ul>
      ${faults.map(
        (fault, at) =>
          html`<li key=${at}>
            <a href=${href(["submit"])} onClick=${(/** @type {Event} */ event) => goTo(event, fault)}>
              <code>${fault.pointer || "/"}</code> ${fault.detail}
            </a>
          </li>`,
      )}
    </ul>
  </div>`;
}

/** @param {Event} event @param {Fault} fault */
function goTo(event, fault) {
  event.preventDefault(); // the fragment names the page
  const control = controlFor(fault.pointer);
  const folded = control?.closest("details");
  if (folded) folded.open = true;
  control?.focus();
}

/** The control of a member, or else of what the member is in. @param {string} pointer @returns {HTMLElement | null} */
function controlFor(pointer) {
  if (pointer === "") return null;
  return document.getElementById(controlOf(pointer)) ?? controlFor(pointer.slice(0, pointer.lastIndexOf("/")));
}

/** Why the API did not take the job. @param {{error: import("../api.js").ApiError}} props */
export function Refusal({ error }) {
  const t = useWords(submit);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => box.current?.focus(), [error]);
  const live = error.code === "run_in_progress" ? error.members.id : null;
  return html`<div class="stack" tabindex="-1" ref=${box}>
    <${Problem} error=${error} />
    ${error.status === 0 && html`<p class="notice">${t("lost")}</p>`}
    ${
      live &&
      html`<p class="notice">
        <span>${t("in_progress")} <a class="id" href=${href(["jobs", live])}>${live}</a></span>
      </p>`
    }
  </div>`;
}
