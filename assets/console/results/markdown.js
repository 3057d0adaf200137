// @ts-check
/**
 * Markdown as nodes of the page. What stands in it came from strangers: HTML stays text, links lead
 * to the web or to mail alone, pictures are links, and nothing is loaded.
 */

import { lexer } from "marked";

import { html } from "../html.js";
import { decodeEntities } from "./entities.js";

/** What a browser lays out, and a parser reads, without a pause. */
const LONGEST = 200_000;
/** Beyond this nothing readable nests, and the stack has an end. */
const DEEPEST = 30;
/** The page's own headings stand above those of a document. */
const PAGE_LEVELS = 2;

/** @typedef {any} Token */
/** @typedef {(token: Token, depth: number) => any} Show */

/** The nodes of a document; null if it is too long or too odd to be read as Markdown. @param {string} markdown */
export function nodesOf(markdown) {
  if (markdown.length > LONGEST) return null;
  try {
    return all(lexer(markdown, { gfm: true }), 0);
  } catch {
    return null; // such as one that nests without end
  }
}

/** @type {Record<string, Show>} */
const SHOW = {
  space: () => null,
  def: () => null,
  br: () => html`<br />`,
  hr: () => html`<hr />`,
  checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  escape: ({ text }) => text,
  html: ({ text }) => text,
  codespan: ({ text }) => html`<code>${text}</code>`,
  code: ({ text }) => html`<pre tabindex="0"><code>${text}</code></pre>`,
  text: (token, depth) => (token.tokens ? inner(token, depth) : decodeEntities(token.text)),
  paragraph: (token, depth) => html`<p>${inner(token, depth)}</p>`,
  strong: (token, depth) => html`<strong>${inner(token, depth)}</strong>`,
  em: (token, depth) => html`<em>${inner(token, depth)}</em>`,
  del: (token, depth) => html`<del>${inner(token, depth)}</del>`,
  blockquote: (token, depth) => html`<blockquote>${inner(token, depth)}</blockquote>`,
  heading: (token, depth) => html`<${`h${Math.min(token.depth + PAGE_LEVELS, 6)}`}>${inner(token, depth)}<//>`,
  link: (token, depth) => linked(token.href, inner(token, depth)),
  image: (token, depth) => linked(token.href, inner(token, depth)),
  list: showList,
  table: showTable,
};

/** @param {Token[]} tokens @param {number} depth @returns {any[]} */
const all = (tokens, depth) => tokens.map((token) => show(token, depth));

/** @type {Show} */
const inner = (token, depth) => all(token.tokens ?? [], depth + 1);

/** @type {Show} */
function show(token, depth) {
  const known = Object.hasOwn(SHOW, token.type) ? SHOW[token.type] : undefined;
  return known && depth < DEEPEST ? known(token, depth) : token.raw;
}

/** A link that could do more than lead somewhere is its words alone. @param {string} address @param {any} words */
function linked(address, words) {
  if (!/^(https?:|mailto:)/i.test(address)) return words;
  return html`<a href=${address} target="_blank" rel="noopener noreferrer">${words}</a>`;
}

/** @type {Show} */
function showList({ ordered, start, items }, depth) {
  const shown = items.map((/** @type {Token} */ item) => html`<li>${inner(item, depth)}</li>`);
  return ordered
    ? html`<ol start=${Number(start) || 1}>
        ${shown}
      </ol>`
    : html`<ul>
        ${shown}
      </ul>`;
}

/** On a narrow screen each cell stands beside the name of its column. @type {Show} */
function showTable({ header, rows }, depth) {
  const labels = header.map((/** @type {Token} */ one) => one.text);
  return html`<table>
    <thead>
      <tr>
        ${header.map((/** @type {Token} */ one) => html`<th>${inner(one, depth)}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (/** @type {Token[]} */ row) =>
          html`<tr>
            ${row.map((one, at) => html`<td data-label=${labels[at]}><span>${inner(one, depth)}</span></td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}
