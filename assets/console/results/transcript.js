// @ts-check
/** A transcript: its text, and what is said when. */

import { useContext, useId, useMemo, useState } from "preact/hooks";

import { clock, duration } from "../format.js";
import { html } from "../html.js";
import { Copy } from "../parts/id.js";
import { Speech, useWords } from "../words.js";
import { results } from "../words/results.js";
import { LanguageOf, tagOf } from "./language.js";
import { LongText } from "./long_text.js";

/** So many segments are laid out at once. */
const MOST = 1000;

/** @param {{result: any}} props */
export function Transcript({ result }) {
  const t = useWords(results);
  const language = useContext(Speech);
  return html`
    <${LongText}
      text=${result.text}
      show=${(/** @type {string} */ shown) => html`<div class="prose lines" lang=${tagOf(result.language)}>${shown}</div>`}
    />
    <p class="hint">
      <${LanguageOf} tag=${result.language} /> · ${t("recorded", { span: duration(result.duration_seconds, language) })}
      <${Copy} text=${result.text} />
    </p>
    <${Segments} segments=${result.segments} lang=${tagOf(result.language)} />
  `;
}

/** @param {{segments: any[], lang: string | undefined}} props */
function Segments({ segments, lang }) {
  const t = useWords(results);
  const id = useId();
  const [wanted, setWanted] = useState("");
  const found = useMemo(
    () => segments.filter(({ text }) => spans(String(text), wanted).length > 0),
    [segments, wanted],
  );
  return html`
    <h3>${t("segments")}</h3>
    <div class="search-within">
      <label for=${id}>${t("search")}</label>
      <input
        id=${id}
        type="search"
        value=${wanted}
        onInput=${(/** @type {any} */ event) => setWanted(event.currentTarget.value)}
      />
      <p class="hint" role="status">${t("found", { count: found.length })}</p>
    </div>
    <ol class="segments" lang=${lang} tabindex="0" aria-label=${t("segments")}>
      ${found.slice(0, MOST).map(
        ({ start, end, text }, at) =>
          html`<li key=${at}>
            <span class="clock">${clock(start)}<span class="unseen"> – ${clock(end)}</span></span>
            <span class="name">${marked(String(text), wanted)}</span>
          </li>`,
      )}
    </ol>
    ${found.length > MOST && html`<p class="hint">${t("first_only", { count: MOST })}</p>`}
  `;
}

/**
 * Where the wanted words stand, without regard to case. With nothing wanted, all of it is one span.
 * @param {string} text @param {string} wanted @returns {[number, number][]}
 */
export function spans(text, wanted) {
  if (wanted.trim() === "") return [[0, 0]];
  // Case folding may change lengths, so that places would not be those of the text: a pattern keeps them.
  const pattern = new RegExp(wanted.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  return [...text.matchAll(pattern)].map(({ index, 0: { length } }) => [index, index + length]);
}

/** @param {string} text @param {string} wanted */
function marked(text, wanted) {
  let from = 0;
  const pieces = spans(text, wanted).flatMap(([start, end]) => {
    const before = text.slice(from, start);
    from = end;
    return end > start ? [before, html`<mark>${text.slice(start, end)}</mark>`] : [before];
  });
  return [...pieces, text.slice(from)];
}
