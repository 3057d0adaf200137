// @ts-check
/** Why something failed, in a sentence. */

import { html } from "../html.js";
import { useNames } from "../words.js";
import { codes } from "../words/codes.js";

/** The API's own words stand where there are none in the language that is shown.
 * @returns {(failure: {code?: string | null, message?: string | null}) => string} */
export function useFailure() {
  const name = useNames(codes);
  return ({ code, message }) => {
    const told = name(code ?? "");
    return told === code ? (message ?? told) : told;
  };
}

/** @param {{failure: {code?: string | null, message?: string | null}}} props */
export function Failure({ failure }) {
  const told = useFailure()(failure);
  return html`<p>${told} ${failure.code && html`<code class="soft">${failure.code}</code>`}</p>`;
}
