// @ts-check
/** Files for the reader's own disk. The key goes in a header, so that no link can fetch them. */

import { useState } from "preact/hooks";

import { ApiError, open, unreachable } from "../api.js";
import { html } from "../html.js";
import { Problem } from "../parts/problem.js";
import { useWords } from "../words.js";
import { results } from "../words/results.js";

/** @param {Blob} content @param {string} name */
export function save(content, name) {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** `forms`: the media type that is asked for, and the ending of its file.
 * @param {{path: string, name: string, forms: [string, string][]}} props */
export function Downloads({ path, name, forms }) {
  const t = useWords(results);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const fetchAs = async (/** @type {string} */ type, /** @type {string} */ ending) => {
    setBusy(true);
    setError(null);
    try {
      const response = await open(path, { headers: { Accept: type } });
      save(await response.blob(), `${name}.${ending}`);
    } catch (problem) {
      // What is no refusal broke off on its way.
      setError(problem instanceof ApiError ? problem : unreachable());
    } finally {
      setBusy(false);
    }
  };
  return html`
    ${forms.map(
      ([type, ending]) =>
        html`<button key=${ending} disabled=${busy} onClick=${() => fetchAs(type, ending)}>
          ${t("download", { ending })}
        </button>`,
    )}
    ${error && html`<${Problem} error=${error} />`}
  `;
}
