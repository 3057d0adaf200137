// @ts-check
/** Files: dropped anywhere on the page, or chosen by an input that fills the place to drop them. */

import { useContext, useEffect } from "preact/hooks";

import { size } from "../format.js";
import { html } from "../html.js";
import { Speech, useNames, useWords } from "../words.js";
import { fileHints } from "../words/params.js";
import { submit } from "../words/submit.js";
import { UPLOAD_BYTES } from "./draft.js";
import { controlOf, useFaults } from "./faults.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("./kinds.js").Kind} Kind */
/** @typedef {(changes: Partial<Draft>) => void} Change */

/** With several that are taken, new ones go to the others. @param {Draft} draft @param {Kind} kind @param {File[]} files @returns {Partial<Draft>} */
function withFiles(draft, kind, files) {
  const many = kind.forms.includes("refs");
  return { way: "files", files: many ? [...draft.files, ...files] : files.slice(0, 1) };
}

/** A file that misses its place must not take the browser away from the form.
 * @param {Draft} draft @param {Kind} kind @param {Change} change */
export function useDropped(draft, kind, change) {
  useEffect(() => {
    const over = (/** @type {DragEvent} */ event) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    };
    const drop = (/** @type {DragEvent} */ event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (!files.length) return;
      event.preventDefault();
      change(withFiles(draft, kind, files));
    };
    window.addEventListener("dragover", over);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", drop);
    };
  }, [draft, kind, change]);
}

/** @param {{draft: Draft, kind: Kind, change: Change}} props */
export function Drop({ draft, kind, change }) {
  const t = useWords(submit);
  const id = controlOf("/input");
  const many = kind.forms.includes("refs");
  const { told, shown } = useFaults("/input", `${id}-hint`);
  const choose = (/** @type {any} */ event) => {
    const files = [...event.currentTarget.files];
    event.currentTarget.value = ""; // the same file may be chosen again
    if (files.length) change(withFiles(draft, kind, files));
  };
  return html`<div class="field">
    <label for=${id}>${t(many ? "files" : "file")}</label>
    <div class="drop">
      <input type="file" id=${id} multiple=${many} onChange=${choose} ...${told} />
      <span aria-hidden="true">${t(many ? "drop_many" : "drop")}</span>
    </div>
    <${Limits} kind=${kind} id=${`${id}-hint`} />
    ${shown}
    <${Chosen} files=${many ? draft.files : draft.files.slice(0, 1)} change=${change} />
  </div>`;
}

/** @param {{kind: Kind, id: string}} props */
function Limits({ kind, id }) {
  const t = useWords(submit);
  const language = useContext(Speech);
  const hint = useNames(fileHints)(kind.name);
  return html`<p class="hint" id=${id}>
    ${hint === kind.name ? "" : hint} ${t("upload_limit", { size: size(UPLOAD_BYTES, language) })}
  </p>`;
}

/** @param {{files: File[], change: Change}} props */
function Chosen({ files, change }) {
  const t = useWords(submit);
  const language = useContext(Speech);
  if (!files.length) return null;
  return html`<ul class="chosen" aria-label=${t("chosen")}>
    ${files.map(
      (file, at) =>
        html`<li key=${at}>
          <bdi class="name">${file.name}</bdi>
          <span class="hint">${size(file.size, language)} · ${file.type || t("type_unknown")}</span>
          <button
            type="button"
            class="quiet"
            aria-label=${t("take_out", { name: file.name })}
            onClick=${() => change({ files: files.filter((_, place) => place !== at) })}
          >
            ${t("remove")}
          </button>
        </li>`,
    )}
  </ul>`;
}
