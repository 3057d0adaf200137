// @ts-check
/** One dead letter: what went wrong, what helps, what was done about it. */

import { useState } from "preact/hooks";

import { segment } from "../api.js";
import { html } from "../html.js";
import { Discard } from "../letters/discard.js";
import { History, Message, Resolution, Story, Triage } from "../letters/facts.js";
import { Redrive } from "../letters/redrive.js";
import { mayBeRedriven, StatusChip } from "../letters/status.js";
import { Copy, Id } from "../parts/id.js";
import { Loading } from "../parts/loading.js";
import { Page } from "../parts/page.js";
import { Problem } from "../parts/problem.js";
import { usePolled } from "../poll.js";
import { useWords } from "../words.js";
import { letters } from "../words/letters.js";

/** @param {import("../pages.js").ViewProps} props */
export default function Letter({ params }) {
  const t = useWords(letters);
  const polled = usePolled(`/v1/dead-letters/${segment(params.id ?? "")}`, {
    every: 5,
    until: (letter) => letter.status !== "open",
  });
  const [asking, setAsking] = useState(/** @type {"redrive" | "discard" | null} */ (null));
  const letter = polled.data;
  const acts = letter && html`<${Acts} letter=${letter} ask=${setAsking} />`;
  const leave = () => setAsking(null);
  return html`<${Page} title=${t("letter")} polled=${polled} actions=${acts}>
    ${!letter && (polled.error ? html`<${Problem} error=${polled.error} retry=${polled.refresh} />` : html`<${Loading} />`)}
    ${letter && html`<${Whole} letter=${letter} />`}
    ${asking === "redrive" && html`<${Redrive} letter=${letter} refresh=${polled.refresh} leave=${leave} />`}
    ${asking === "discard" && html`<${Discard} letter=${letter} refresh=${polled.refresh} leave=${leave} />`}
  <//>`;
}

/** @param {{letter: any, ask: (what: "redrive" | "discard") => void}} props */
function Acts({ letter, ask }) {
  const t = useWords(letters);
  if (letter.status !== "open") return null;
  return html`
    ${mayBeRedriven(letter) && html`<button class="primary" onClick=${() => ask("redrive")}>${t("redrive")}</button>`}
    <button onClick=${() => ask("discard")}>${t("discard")}</button>
  `;
}

/** @param {{letter: any}} props */
function Whole({ letter }) {
  return html`
    <p class="letter-name">
      <${StatusChip} status=${letter.status} /> <${Id} id=${letter.id} whole /> <${Copy} text=${letter.id} />
    </p>
    ${letter.status === "open" ? html`<${Triage} letter=${letter} />` : html`<${Resolution} letter=${letter} />`}
    <${Story} letter=${letter} />
    <${History} letter=${letter} />
    ${(letter.queue || letter.body) && html`<${Message} letter=${letter} />`}
  `;
}
