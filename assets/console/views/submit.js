// @ts-check
/** Asking for work: the form is what the API says that it takes. */

import { useMemo } from "preact/hooks";

import { html } from "../html.js";
import { Empty, Loading } from "../parts/loading.js";
import { Page } from "../parts/page.js";
import { Problem } from "../parts/problem.js";
import { usePolled } from "../poll.js";
import { Form } from "../submit/form.js";
import { readOffer } from "../submit/kinds.js";
import { useWords } from "../words.js";
import { submit } from "../words/submit.js";

export const parameters = ["kind"];

/** @param {import("../pages.js").ViewProps} props */
export default function Submit({ query }) {
  const t = useWords(submit);
  const described = usePolled("/openapi.json", { every: 0 });
  return html`<${Page} title=${t("title")}><${Offered} described=${described} wanted=${query.get("kind")} /><//>`;
}

/** @param {{described: import("../poll.js").Polled, wanted: string | null}} props */
function Offered({ described, wanted }) {
  const t = useWords(submit);
  const { data, error, refresh } = described;
  const offer = useMemo(() => (data === undefined ? null : readOffer(data)), [data]);
  if (!offer) return error ? html`<${Problem} error=${error} retry=${refresh} />` : html`<${Loading} />`;
  const kind = offer.kinds.find(({ name }) => name === wanted) ?? offer.kinds[0];
  if (!kind) return html`<${Empty}>${t("no_kinds")}<//>`;
  return html`<${Form} offer=${offer} kind=${kind} />`;
}
