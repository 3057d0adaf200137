// @ts-check
/** What an address asks for in vain: somebody who believes in a filter must not look at all there is. */

import { html } from "../html.js";
import { setQuery } from "../router.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";

const LONGEST_NAME = 80;

/** `heeded`: the parameters that the page knows. @param {{heeded: readonly string[], query: URLSearchParams}} props */
export function Unheeded({ heeded, query }) {
  const t = useWords(shell);
  const unknown = [...new Set(query.keys())].filter((name) => !heeded.includes(name));
  const twice = heeded.filter((name) => query.getAll(name).length > 1);
  if (!unknown.length && !twice.length) return null;
  const mend = () =>
    setQuery(
      Object.fromEntries([...unknown.map((name) => [name, null]), ...twice.map((name) => [name, query.get(name)])]),
    );
  return html`<div class="notice unheeded" role="status">
    ${unknown.length > 0 && html`<p>${t("unheeded")} <${Names} names=${unknown} /></p>`}
    ${twice.length > 0 && html`<p>${t("twice")} <${Names} names=${twice} /></p>`}
    <button class="quiet" onClick=${mend}>${t("take_out")}</button>
  </div>`;
}

/** @param {{names: string[]}} props */
const Names = ({ names }) =>
  names.map((name, at) => html`${at > 0 && ", "}<code key=${name}>${name.slice(0, LONGEST_NAME)}</code>`);
