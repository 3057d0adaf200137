// @ts-check
/** The input: pasted, or dropped. */

import { useContext, useId, useMemo } from "preact/hooks";

import { size } from "../format.js";
import { html } from "../html.js";
import { Speech, useWords } from "../words.js";
import { submit } from "../words/submit.js";
import { bytesOf, cutOf, INLINE_BYTES, textsIn, wayOf, waysOf } from "./draft.js";
import { controlOf, useFaults } from "./faults.js";
import { Drop } from "./drop.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {{draft: Draft, kind: import("./kinds.js").Kind, offer: import("./kinds.js").Offer,
 *   change: (changes: Partial<Draft>) => void}} Part */

/** @param {Part} props */
export function Input(props) {
  const t = useWords(submit);
  const way = wayOf(props.draft, props.kind);
  return html`<fieldset class="stack">
    <legend>${t("input")}</legend>
    <${Ways} ...${props} />
    ${way === "files" ? html`<${Files} ...${props} />` : html`<${Text} ...${props} />`}
  </fieldset>`;
}

/** @param {Part} props */
function Ways({ draft, kind, change }) {
  const t = useWords(submit);
  const name = useId();
  const ways = waysOf(kind);
  if (ways.length < 2) return null;
  const many = kind.forms.includes("refs");
  const label = (/** @type {import("./draft.js").Way} */ way) => (way === "files" && !many ? "way_file" : `way_${way}`);
  return html`<div class="ways">
    ${ways.map(
      (way) =>
        html`<label key=${way}>
          <input type="radio" name=${name} checked=${way === wayOf(draft, kind)} onChange=${() => change({ way })} />
          ${t(/** @type {keyof typeof submit.en} */ (label(way)))}
        </label>`,
    )}
  </div>`;
}

/** @param {Part} props */
function Text({ draft, kind, offer, change }) {
  const t = useWords(submit);
  const language = useContext(Speech);
  const id = controlOf("/input");
  const { told, shown } = useFaults("/input", `${id}-hint`);
  const many = wayOf(draft, kind) === "texts";
  const bytes = useMemo(() => bytesOf(draft.text), [draft.text]);
  return html`
    ${many && html`<${Cut} draft=${draft} kind=${kind} change=${change} />`}
    <div class="field">
      <label for=${id}>${t(many ? "texts" : "text")}</label>
      <textarea
        id=${id}
        rows="10"
        value=${draft.text}
        onInput=${(/** @type {any} */ event) => change({ text: event.currentTarget.value })}
        ...${told}
      ></textarea>
      <p class="hint" id=${`${id}-hint`}>
        ${many && html`<${HowMany} draft=${draft} kind=${kind} offer=${offer} /> `}${bytes > 0 && t("text_size", { size: size(bytes, language) })}
        ${t("text_limit", { limit: `${INLINE_BYTES / 1024} KiB` })}
      </p>
      ${shown}
    </div>
  `;
}

/** @param {Omit<Part, "change">} props */
function HowMany({ draft, kind, offer }) {
  const t = useWords(submit);
  const cut = cutOf(draft, kind);
  const count = useMemo(() => textsIn(draft.text, cut).length, [draft.text, cut]);
  const most = offer.mostTexts < Infinity ? t("texts_most", { count: offer.mostTexts }) : "";
  return html`<span class=${count > offer.mostTexts ? "refusal" : undefined}>
    ${t("texts_count", { count })}${most && ` (${most})`}
  </span>`;
}

/** @param {Omit<Part, "offer">} props */
function Cut({ draft, kind, change }) {
  const t = useWords(submit);
  const id = useId();
  return html`<div class="field cut">
    <label for=${id}>${t("cut")}</label>
    <select
      id=${id}
      value=${cutOf(draft, kind)}
      onChange=${(/** @type {any} */ event) => change({ cut: event.currentTarget.value })}
    >
      <option value="line">${t("cut_line")}</option>
      <option value="part">${t("cut_part")}</option>
    </select>
  </div>`;
}

/** @param {Part} props */
function Files({ draft, kind, change }) {
  const t = useWords(submit);
  const id = useId();
  const many = kind.forms.includes("refs");
  const typed = (/** @type {any} */ event) => change({ refs: event.currentTarget.value });
  return html`
    <${Drop} draft=${draft} kind=${kind} change=${change} />
    ${
      many &&
      html`<div class="field">
        <label for=${id}>${t("refs")}</label>
        <textarea
          id=${id}
          rows="3"
          class="ids"
          spellcheck=${false}
          placeholder="job_… / in_…"
          aria-describedby=${`${id}-hint`}
          value=${draft.refs}
          onInput=${typed}
        ></textarea>
        <p class="hint" id=${`${id}-hint`}>${t("refs_hint")}</p>
      </div>`
    }
  `;
}
