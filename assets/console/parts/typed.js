// @ts-check
/** A field whose value lives in the URL. */

import { useLayoutEffect, useRef } from "preact/hooks";

import { html } from "../html.js";

/**
 * Taken over when it is left or Enter is pressed, and not at each letter. A page is drawn anew at each
 * look at the server; what is being typed meanwhile stays.
 * @param {{value: string, take: (text: string) => void} & Record<string, any>} props  and what an input has
 */
export function Typed({ value, take, ...given }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => {
    if (field.current) field.current.value = value;
  }, [value]);
  return html`<input
    ...${given}
    ref=${field}
    onChange=${(/** @type {any} */ event) => take(event.currentTarget.value)}
  />`;
}
