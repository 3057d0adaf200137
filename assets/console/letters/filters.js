// @ts-check
/** Which dead letters are looked at: in the URL, and as the API asks for it. */

import { html } from "../html.js";
import { Choice, Filters, Text } from "../parts/filters.js";
import { Window } from "../parts/window.js";
import { useNames, useWords } from "../words.js";
import { letters } from "../words/letters.js";
import { classes, kinds, letterStatuses } from "../words/names.js";
import { shell } from "../words/shell.js";

export const GROUP_FILTERS = ["class", "kind", "tenant", "status"];
/** Asked of open letters alone. */
const URGENT = ["past_triage", "expiring"];
const TIMES = ["failed_after", "failed_before"];
export const LETTER_FILTERS = [...GROUP_FILTERS, "fingerprint", ...URGENT, ...TIMES];
/** In the URL, where the API says nothing. What waits for a person is what is meant if nothing is said. */
const ANY_STATUS = "all";

/** The status that is looked at. @param {URLSearchParams} query */
export const statusIn = (query) => query.get("status") || "open";

/** Whether fewer letters are looked at than a bulk redrive with the same filters would take.
 * @param {URLSearchParams} query */
export const isNarrower = (query) =>
  TIMES.some((name) => query.get(name)) || (statusIn(query) === "open" && URGENT.some((name) => query.get(name)));

/** The parameters that the API is asked with. @param {string[]} names @param {URLSearchParams} query */
export function asked(names, query) {
  const status = statusIn(query);
  const meant = status === "open" ? names : names.filter((name) => !URGENT.includes(name));
  const given = Object.fromEntries(meant.map((name) => [name, query.get(name)]));
  // Groups are of one status: the API says so.
  return { ...given, status: status === ANY_STATUS && names === LETTER_FILTERS ? null : status };
}

/** @param {{names: string[], query: URLSearchParams}} props */
export function LetterFilters({ names, query }) {
  const t = useWords(letters);
  const s = useWords(shell);
  const [errorClass, kind, status] = [useNames(classes), useNames(kinds), useNames(letterStatuses)];
  const chosen = new URLSearchParams(query);
  if (statusIn(query) === "open") chosen.delete("status");
  const statuses = Object.keys(letterStatuses.en).filter((name) => name !== "open");
  return html`<${Filters} names=${names} query=${query}>
    <${Choice} label=${t("class")} name="class" query=${query} options=${named(classes, errorClass)} />
    <${Choice} label=${t("kind")} name="kind" query=${query} options=${named(kinds, kind)} />
    <${Text} label=${s("tenant")} name="tenant" query=${query} />
    <${Choice}
      label=${t("status")}
      name="status"
      query=${chosen}
      none=${status("open")}
      options=${[
        ...statuses.map((name) => [name, status(name)]),
        ...(names === LETTER_FILTERS ? [[ANY_STATUS, t("all")]] : []),
      ]}
    />
    ${names.includes("expiring") && statusIn(query) === "open" && html`<${Urgency} query=${query} />`}
    ${names.includes("fingerprint") && html`<${Text} label=${t("fingerprint")} name="fingerprint" query=${query} />`}
    ${
      TIMES.some((name) => names.includes(name) && query.has(name)) &&
      html`<${Window} label=${t("last")} name="failed" query=${query} />`
    }
  <//>`;
}

/** @param {{query: URLSearchParams}} props */
function Urgency({ query }) {
  const t = useWords(letters);
  return html`
    <${Choice} label=${t("triage")} name="past_triage" query=${query} options=${[["true", t("overdue")]]} />
    <${Choice} label=${t("kept")} name="expiring" query=${query} options=${[["true", t("goes_soon")]]} />
  `;
}

/** All names of the API with what they are called. @param {{en: Record<string, any>}} words @param {(name: string) => string} say */
export const named = (words, say) => Object.keys(words.en).map((name) => [name, say(name)]);
