// @ts-check
/** Names and values, one below the other. */

import { html } from "../html.js";

/** Facts whose value is null or undefined are left out.
 * @param {{facts: [string, any][]}} props */
export const Facts = ({ facts }) =>
  html`<dl class="facts">
    ${facts
      .filter(([, value]) => value != null)
      .map(
        ([name, value]) =>
          html`<div key=${name}>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;
