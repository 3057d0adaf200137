// @ts-check
/** A text's language, as the result names it. */

import { useContext } from "preact/hooks";

import { html } from "../html.js";
import { Speech, useWords } from "../words.js";
import { results } from "../words/results.js";

/** The tag for `lang`, which tells a voice and a font what to do; none if it is no tag. @param {unknown} tag */
export const tagOf = (tag) => (typeof tag === "string" && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(tag) ? tag : undefined);

/** What may look like a tag, and be none, has no name.
 * @param {string} tag @param {import("../session.js").Language} language */
function nameOf(tag, language) {
  try {
    return new Intl.DisplayNames(language, { type: "language" }).of(tag);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** @param {{tag: unknown}} props */
export function LanguageOf({ tag }) {
  const t = useWords(results);
  const shown = useContext(Speech);
  const known = tagOf(tag);
  const name = known ? (nameOf(known, shown) ?? tag) : tag;
  return html`<bdi>${t("language", { name: String(name ?? "–") })}</bdi>`;
}
