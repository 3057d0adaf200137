// @ts-check
/**
 * Templates. Text and attributes are set through the DOM, so that no value becomes markup; nothing
 * in the console writes `innerHTML`.
 */

import htm from "htm";
import { h } from "preact";

/** @typedef {import("preact").ComponentChildren} Children */

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);
