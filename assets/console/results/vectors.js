// @ts-check
/** Vectors: what they are, and which passages are near to which. Nothing is asked of a server. */

import { useContext, useId, useMemo, useState } from "preact/hooks";

import { count } from "../format.js";
import { html } from "../html.js";
import { Facts } from "../parts/facts.js";
import { textsOf } from "../submit/kept.js";
import { Speech, useWords } from "../words.js";
import { results } from "../words/results.js";
import { comparable, nearest } from "./nearest.js";

const MOST = 10;

/** @param {{job: any, vectors: import("./load.js").Vectors}} props */
export function Vectors({ job, vectors }) {
  const t = useWords(results);
  const language = useContext(Speech);
  const { model, dimensions, floats } = vectors;
  const rows = Math.floor(floats.length / dimensions);
  const kept = textsOf(job.id);
  const texts = kept?.length === rows ? kept : null;
  return html`
    <${Facts}
      facts=${[
        [t("model"), html`<bdi class="name">${model}</bdi>`],
        [t("dimensions"), count(dimensions, language)],
        [t("vectors"), count(rows, language)],
      ]}
    />
    ${rows > 1 && html`<${Near} vectors=${vectors} rows=${rows} texts=${texts} />`}
  `;
}

/** @param {{vectors: import("./load.js").Vectors, rows: number, texts: string[] | null}} props */
function Near({ vectors: { dimensions, floats }, rows, texts }) {
  const t = useWords(results);
  const id = useId();
  const [picked, setPicked] = useState("1");
  const row = Math.min(Math.max(Math.trunc(Number(picked)) || 1, 1), rows) - 1;
  const found = useMemo(() => nearest(floats, { dimensions, row, most: MOST }), [floats, dimensions, row]);
  const compared = comparable(dimensions);
  return html`
    <h3>${t("nearest")}</h3>
    <div class="pick">
      <label for=${id}>${t("passage_of", { count: rows })}</label>
      <input
        id=${id}
        type="number"
        min="1"
        max=${rows}
        value=${picked}
        onInput=${(/** @type {any} */ event) => setPicked(event.currentTarget.value)}
      />
    </div>
    ${texts ? html`<blockquote class="lines name">${texts[row]}</blockquote>` : html`<p class="hint">${t("texts_unknown")}</p>`}
    <ol class="near" aria-label=${t("nearest_to", { number: row + 1 })}>
      ${found.map(
        (one) =>
          html`<li key=${one.row}>
            <${Score} score=${one.score} />
            <button class="quiet" onClick=${() => setPicked(String(one.row + 1))}>
              ${t("passage", { number: one.row + 1 })}
            </button>
            ${texts && html`<span class="lines name">${texts[one.row]}</span>`}
          </li>`,
      )}
    </ol>
    ${rows > compared && html`<p class="hint">${t("compared", { count: compared })}</p>`}
  `;
}

/** How near, as a number and a length. @param {{score: number}} props */
const Score = ({ score }) =>
  html`<span class="score">
    ${score.toFixed(3)} <meter min="0" max="1" value=${Math.max(score, 0)} aria-hidden="true"></meter>
  </span>`;
