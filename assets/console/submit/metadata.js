// @ts-check
/** The caller's own pairs, which the job shows. */

import { html } from "../html.js";
import { useWords } from "../words.js";
import { submit } from "../words/submit.js";
import { controlOf, useFaults } from "./faults.js";

/** @param {{pairs: [string, string][], most: number, change: (pairs: [string, string][]) => void}} props */
export function Metadata({ pairs, most, change }) {
  const t = useWords(submit);
  const id = controlOf("/metadata");
  const { told, shown } = useFaults("/metadata", `${id}-hint`);
  const set = (/** @type {number} */ at, /** @type {[string, string]} */ pair) =>
    change(pairs.map((one, place) => (place === at ? pair : one)));
  return html`<fieldset class="stack" id=${id} tabindex="-1" ...${told}>
    <legend>${t("metadata")}</legend>
    ${pairs.map(
      ([name, value], at) =>
        html`<div class="pair" key=${at}>
          <input
            aria-label=${t("pair_name", { number: at + 1 })}
            value=${name}
            autocomplete="off"
            onInput=${(/** @type {any} */ event) => set(at, [event.currentTarget.value, value])}
          />
          <input
            aria-label=${t("pair_value", { number: at + 1 })}
            value=${value}
            autocomplete="off"
            onInput=${(/** @type {any} */ event) => set(at, [name, event.currentTarget.value])}
          />
          <button
            type="button"
            class="quiet"
            aria-label=${t("pair_remove", { number: at + 1 })}
            onClick=${() => change(pairs.filter((_, place) => place !== at))}
          >
            ${t("remove")}
          </button>
        </div>`,
    )}
    <p class="hint" id=${`${id}-hint`}>${t("metadata_hint", { count: most })}</p>
    ${
      pairs.length < most &&
      html`<button type="button" class="add" onClick=${() => change([...pairs, ["", ""]])}>${t("pair_add")}</button>`
    }
    ${shown}
  </fieldset>`;
}
