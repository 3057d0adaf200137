// @ts-check
/**
 * The texts of what this tab has submitted: a result names vectors by their number alone. In memory,
 * so that they go with the tab; the API gives an input to nobody.
 */

import { SIGNED_OUT } from "../api.js";

const MOST_JOBS = 20;
/** Of a larger file nothing is kept. */
const MOST_BYTES = 2_000_000;

/** @type {Map<string, string[]>} */
const kept = new Map();
window.addEventListener(SIGNED_OUT, () => kept.clear());

/** @param {string} job @param {string[]} texts */
export function keepTexts(job, texts) {
  kept.set(job, texts);
  for (const oldest of [...kept.keys()].slice(0, -MOST_JOBS)) kept.delete(oldest);
}

/** @param {string} job @returns {string[] | null} */
export const textsOf = (job) => kept.get(job) ?? null;

/** The strings of a file of JSON Lines; null if it is none, or large. @param {Blob} file @returns {Promise<string[] | null>} */
export async function linesOf(file) {
  if (file.size > MOST_BYTES) return null;
  try {
    const lines = (await file.text()).split("\n").filter((line) => line.trim());
    const texts = lines.map((line) => JSON.parse(line));
    return texts.every((text) => typeof text === "string") ? texts : null;
  } catch {
    return null;
  }
}
