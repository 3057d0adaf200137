// @ts-check
/** A table that becomes a stack of cards on a narrow screen. */

import { html } from "../html.js";

/** `cell` shows one column of a row; the first column is the row's name.
 * @typedef {{label: string, cell: (row: any) => any, numeric?: boolean}} Column */

/** @param {{caption: string, columns: Column[], rows: any[], id?: (row: any) => string}} props */
export function Table({ caption, columns, rows, id = (row) => row.id }) {
  return html`<table>
    <caption class="unseen">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${columns.map(({ label, numeric }) => html`<th key=${label} scope="col" class=${numeric && "numeric"}>${label}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr key=${id(row)}>
            ${columns.map(
              ({ label, cell, numeric }) =>
                html`<td key=${label} data-label=${label} class=${numeric && "numeric"}>${cell(row)}</td>`,
            )}
          </tr>`,
      )}
    </tbody>
  </table>`;
}
