// @ts-check
/** A result as it came. */

import { segment } from "../api.js";
import { html } from "../html.js";
import { Loading } from "../parts/loading.js";
import { Problem } from "../parts/problem.js";
import { usePolled } from "../poll.js";

/** The result of a job that succeeded. @param {{job: any}} props */
export function Result({ job }) {
  const { data, error, refresh } = usePolled(`/v1/jobs/${segment(job.id)}/result`, { every: 0 });
  if (data !== undefined) return html`<pre>${JSON.stringify(data, null, 2)}</pre>`;
  return error ? html`<${Problem} error=${error} retry=${refresh} />` : html`<${Loading} />`;
}
