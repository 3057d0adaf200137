// @ts-check
/** Character references of HTML as the characters that they name: the page has no parser for them. */

/** @type {Record<string, string>} */
const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", ndash: "–", mdash: "—" };

/** One that is not known stays as it is written. @param {string} text */
export function decodeEntities(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (all, decimal, hex, name) => {
    if (name) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? all) : all;
    return character(decimal ? Number(decimal) : parseInt(hex, 16));
  });
}

/** What is no character is shown as Unicode's stand-in, as browsers do. @param {number} code */
function character(code) {
  const none = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return none ? "\ufffd" : String.fromCodePoint(code);
}
