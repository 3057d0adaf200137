// @ts-check
/** What stands in the form, and what is sent for it. */

import { valueOf } from "./kinds.js";

/** @typedef {import("./kinds.js").Kind} Kind */
/** @typedef {import("./kinds.js").Offer} Offer */
/** @typedef {import("../api.js").Fault} Fault */
/** How the input is given. @typedef {"text" | "texts" | "files"} Way */
/** What parts one text from the next: the line's end, or a line of dashes. @typedef {"line" | "part"} Cut */
/** `values` holds what was typed by the pointer of its member.
 * @typedef {{way: Way, cut: Cut | null, text: string, files: File[], refs: string,
 *   values: Record<string, string>, pairs: [string, string][]}} Draft */
/** `pieces` are uploaded first; `input` is made of the refs that they get.
 * @typedef {{pieces: (File | string)[], input: (refs: string[]) => object}} Plan */

/** The contract's limit on a text within the request; one that is longer is uploaded. */
export const INLINE_BYTES = 512 * 1024;
/** The limit of an upload. */
export const UPLOAD_BYTES = 100_000_000;

/** @type {Draft} */
export const EMPTY = { way: "text", cut: null, text: "", files: [], refs: "", values: {}, pairs: [] };

/** @param {Kind} kind @returns {Way[]} */
export function waysOf({ forms }) {
  /** @type {Way[]} */
  const ways = [];
  if (forms.includes("text")) ways.push("text");
  if (forms.includes("texts")) ways.push("texts");
  if (forms.includes("ref") || forms.includes("refs")) ways.push("files");
  return ways;
}

/** The way that was chosen, if the kind has it. @param {Draft} draft @param {Kind} kind @returns {Way} */
export function wayOf(draft, kind) {
  const ways = waysOf(kind);
  return ways.includes(draft.way) ? draft.way : (ways[0] ?? "text");
}

/** Who takes several documents gets them in parts; else a line is a text. @param {Draft} draft @param {Kind} kind @returns {Cut} */
export const cutOf = (draft, kind) => draft.cut ?? (kind.forms.includes("refs") ? "part" : "line");

/** The texts of one field, empty ones left out. @param {string} text @param {Cut} cut */
export function textsIn(text, cut) {
  const found = text.split(cut === "line" ? /\r?\n/ : /^-{3,}[ \t]*$/m);
  return found.map((one) => one.trim()).filter(Boolean);
}

/** The ids of earlier jobs and uploads that were typed. @param {string} refs */
const refsIn = (refs) => refs.split(/[\s,、]+/).filter(Boolean);

/** How much it is in UTF-8. @param {string} text */
export const bytesOf = (text) => new Blob([text]).size;

/** @param {Draft} draft @param {Kind} kind @returns {Plan} */
export function planOf(draft, kind) {
  const way = wayOf(draft, kind);
  if (way === "files") return ofFiles(draft, kind);
  const texts = textsIn(draft.text, cutOf(draft, kind));
  const input = way === "text" ? { text: draft.text } : { texts };
  const takes = (/** @type {import("./kinds.js").Form} */ form) => kind.forms.includes(form);
  if (bytesOf(JSON.stringify(input)) > INLINE_BYTES) {
    if (way === "texts" && takes("refs")) return { pieces: texts, input: (refs) => ({ refs }) };
    const whole = way === "text" ? draft.text : texts.map((one) => `${JSON.stringify(one)}\n`).join("");
    if (takes("ref")) return { pieces: [whole], input: ([ref]) => ({ ref }) };
  }
  return { pieces: [], input: () => input };
}

/** @param {Draft} draft @param {Kind} kind @returns {Plan} */
function ofFiles({ files, refs }, kind) {
  if (!kind.forms.includes("refs")) return { pieces: files.slice(0, 1), input: ([ref]) => ({ ref }) };
  return { pieces: files, input: (uploaded) => ({ refs: [...refsIn(refs), ...uploaded] }) };
}

/**
 * The whole request, but for its input.
 * @param {Draft} draft @param {Kind} kind @param {Offer} offer @returns {Record<string, unknown>}
 */
export function membersOf(draft, kind, offer) {
  const params = set(draft, kind.fields);
  const metadata = Object.fromEntries(pairsIn(draft));
  return {
    kind: kind.name,
    ...(Object.keys(params).length ? { params } : {}),
    ...set(draft, offer.common),
    ...(Object.keys(metadata).length ? { metadata } : {}),
  };
}

/** @param {Draft} draft @param {import("./kinds.js").Field[]} fields */
function set({ values }, fields) {
  const typed = fields.filter(({ pointer }) => values[pointer]);
  return Object.fromEntries(typed.map(({ name, pointer, schema }) => [name, valueOf(schema, values[pointer] ?? "")]));
}

/** @param {Draft} draft */
const pairsIn = ({ pairs }) => pairs.filter(([name, value]) => name || value);

/** `word` says what is wrong; `name` whose.
 * @typedef {{pointer: string, word: "nothing" | "no_file" | "file_empty" | "file_large" | "pair_twice", name?: string}} Slip */

/** What can be seen to be wrong before anything is sent. @param {Draft} draft @param {Kind} kind @returns {Slip[]} */
export function slipsOf(draft, kind) {
  const names = pairsIn(draft).map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  const slips = wayOf(draft, kind) === "files" ? fileSlips(draft, kind) : textSlips(draft);
  return twice === undefined ? slips : [...slips, { pointer: "/metadata", word: "pair_twice", name: twice }];
}

/** @param {Draft} draft @returns {Slip[]} */
const textSlips = ({ text }) => (text.trim() ? [] : [{ pointer: "/input", word: "nothing" }]);

/** @param {Draft} draft @param {Kind} kind @returns {Slip[]} */
function fileSlips(draft, kind) {
  const many = kind.forms.includes("refs");
  const files = many ? draft.files : draft.files.slice(0, 1);
  if (!files.length && !(many && refsIn(draft.refs).length)) return [{ pointer: "/input", word: "no_file" }];
  return files.flatMap(({ name, size }) => fileSlip(name, size));
}

/** @param {string} name @param {number} size @returns {Slip[]} */
function fileSlip(name, size) {
  if (size === 0) return [{ pointer: "/input", word: "file_empty", name }];
  return size > UPLOAD_BYTES ? [{ pointer: "/input", word: "file_large", name }] : [];
}
