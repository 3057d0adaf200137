// @ts-check
/**
 * What the console says, in English and Japanese. Each part keeps its words in `words/`, both
 * languages side by side, and the type below holds them to the same names.
 */

import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** @typedef {import("./session.js").Language} Language */
/** A sentence with `{names}` to fill in; where a count matters, one for each case of the language.
 * @typedef {string | {one?: string, other: string}} Sentence */
/** @typedef {Record<string, string | number>} Values */

/** The language that is shown, for every component below. */
export const Speech = createContext(/** @type {Language} */ ("en"));

/**
 * @template {string} Name
 * @param {{en: Record<Name, Sentence>, ja: Record<NoInfer<Name>, Sentence>}} words
 * @returns {{en: Record<Name, Sentence>, ja: Record<Name, Sentence>}}
 */
export const define = (words) => words;

/**
 * @template {string} Name
 * @param {{en: Record<Name, Sentence>, ja: Record<Name, Sentence>}} words
 * @returns {(name: Name, values?: Values) => string}
 */
export function useWords(words) {
  const language = useContext(Speech);
  return (name, values = {}) => say(words[language][name], values, language);
}

/** Words for names that come from the API: a name that nobody knows yet is shown as it is.
 * @param {{en: Record<string, Sentence>, ja: Record<string, Sentence>}} words
 * @returns {(name: string) => string} */
export function useNames(words) {
  const language = useContext(Speech);
  return (name) => (Object.hasOwn(words[language], name) ? say(words[language][name] ?? name, {}, language) : name);
}

/** @param {Sentence} sentence @param {Values} values @param {Language} language */
export function say(sentence, values, language) {
  return chosen(sentence, values, language).replace(/\{(\w+)\}/g, (all, name) => {
    const value = values[name];
    if (value === undefined) return all;
    return typeof value === "number" ? new Intl.NumberFormat(language).format(value) : value;
  });
}

/** @param {Sentence} sentence @param {Values} values @param {Language} language */
function chosen(sentence, values, language) {
  if (typeof sentence === "string") return sentence;
  const rule = new Intl.PluralRules(language).select(Number(values.count ?? 0));
  return rule === "one" ? (sentence.one ?? sentence.other) : sentence.other;
}
