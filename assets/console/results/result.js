// @ts-check
/** What came of a job, shown so that it can be read. */

import { useCallback, useContext, useEffect, useState } from "preact/hooks";

import { ApiError, segment } from "../api.js";
import { size } from "../format.js";
import { html } from "../html.js";
import { Guard } from "../parts/guard.js";
import { Loading } from "../parts/loading.js";
import { Problem } from "../parts/problem.js";
import { Speech, useNames, useWords } from "../words.js";
import { refusals, results } from "../words/results.js";
import { AsJson } from "./as_json.js";
import { FLOATS, load } from "./load.js";
import { Report } from "./report.js";
import { Downloads } from "./save.js";
import { Summary } from "./summary.js";
import { Transcript } from "./transcript.js";
import { Vectors } from "./vectors.js";

/** What is larger is asked for before it is loaded. */
const LARGE_BYTES = 2_000_000;

/** @typedef {import("./load.js").Content} Content */

/** The result of a job that succeeded; for a tenant's key. @param {{job: any}} props */
export function Result({ job }) {
  const path = job.links?.result ?? `/v1/jobs/${segment(job.id)}/result`;
  const { content, large, error, again } = useResult(path);
  if (error) return html`<${Refused} error=${error} again=${() => again(LARGE_BYTES)} />`;
  if (large !== undefined)
    return html`<${Large} job=${job} path=${path} bytes=${large} show=${() => again(Infinity)} />`;
  if (content === undefined) return html`<${Loading} />`;
  return html`<div class="result stack">
    <${Guard} key=${path}><${Shown} job=${job} content=${content} /><//>
    <div class="actions">
      <${Downloads} path=${path} name=${job.id} forms=${formsOf(content)} />
    </div>
  </div>`;
}

/** @typedef {{path: string, content?: Content, large?: number | null, error?: ApiError}} Known */

/** @param {string} path */
function useResult(path) {
  const [most, setMost] = useState({ bytes: LARGE_BYTES });
  const [known, setKnown] = useState(/** @type {Known} */ ({ path }));
  useEffect(() => {
    const asking = new AbortController();
    setKnown({ path });
    load(path, { most: most.bytes, signal: asking.signal })
      .then((loaded) => !asking.signal.aborted && setKnown({ path, ...loaded }))
      .catch((error) => {
        if (asking.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setKnown({ path, error });
      });
    return () => asking.abort();
  }, [path, most]);
  const again = useCallback((/** @type {number} */ bytes) => setMost({ bytes }), []);
  const current = known.path === path ? known : { path };
  return { ...current, again };
}

/** @param {{job: any, content: Content}} props */
function Shown({ job, content }) {
  const t = useWords(results);
  if ("vectors" in content) return html`<${Vectors} job=${job} vectors=${content.vectors} />`;
  if ("other" in content) return html`<p>${t("other", { type: content.other })}</p>`;
  const { body } = content;
  if (typeof body?.summary === "string") return html`<${Summary} result=${body} />`;
  if (typeof body?.markdown === "string") return html`<${Report} job=${job} result=${body} />`;
  if (typeof body?.text === "string" && Array.isArray(body.segments)) return html`<${Transcript} result=${body} />`;
  return html`<${AsJson} body=${body} />`;
}

/** @param {Content} content @returns {[string, string][]} */
function formsOf(content) {
  if ("other" in content) return [["*/*", "bin"]];
  if ("vectors" in content) return [JSON_FORM, [FLOATS, "f32"]];
  return [JSON_FORM];
}
const JSON_FORM = /** @type {[string, string]} */ (["application/json", "json"]);

/** @param {{job: any, path: string, bytes: number | null, show: () => void}} props */
function Large({ job, path, bytes, show }) {
  const t = useWords(results);
  const language = useContext(Speech);
  const told = bytes ?? LARGE_BYTES;
  return html`<div class="notice">
    <p>${t(bytes === null ? "large_unknown" : "large", { size: size(told, language) })}</p>
    <div class="actions">
      <button onClick=${show}>${t("show_large")}</button>
      <${Downloads} path=${path} name=${job.id} forms=${[JSON_FORM]} />
    </div>
  </div>`;
}

/** A result that is not there is told in the reader's words; all else in the API's.
 * @param {{error: ApiError, again: () => void}} props */
function Refused({ error, again }) {
  const why = useNames(refusals)(error.code);
  if (why !== error.code) return html`<p class="notice" role="alert">${why}</p>`;
  return html`<${Problem} error=${error} retry=${again} />`;
}
