// @ts-check
/** An id: in full, to be copied, and linked where it leads somewhere. */

import { useState } from "preact/hooks";

import { html } from "../html.js";
import { useWords } from "../words.js";
import { shell } from "../words/shell.js";

/** Shown by its end, which tells ids apart; the whole is its title and what is copied.
 * @param {{id: string, to?: string, whole?: boolean}} props */
export function Id({ id, to, whole = false }) {
  const text = whole || id.length <= 16 ? id : `${id.slice(0, id.indexOf("_") + 1)}…${id.slice(-8)}`;
  if (to) return html`<a class="id" href=${to} title=${id}>${text}</a>`;
  return html`<code class="id" title=${id}>${text}</code>`;
}

/** `name` tells this button from its like. @param {{text: string, name?: string}} props */
export function Copy({ text, name }) {
  const t = useWords(shell);
  const [word, setWord] = useState(/** @type {"copy" | "copied" | "copy_failed"} */ ("copy"));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setWord("copied");
    } catch {
      setWord("copy_failed"); // forbidden, or there is none where the console is served without TLS
    }
  };
  return html`<button class="quiet" onClick=${copy} onBlur=${() => setWord("copy")}>
    <span aria-live="polite">${t(word)}${name && html`<span class="unseen"> ${name}</span>`}</span>
  </button>`;
}
