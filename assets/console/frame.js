// @ts-check
/** The frame around every page: the menu, the search for an id, and the page that the URL names. */

import { useEffect, useRef, useState } from "preact/hooks";

import { signOut, unreachable } from "./api.js";
import { useCaller } from "./caller.js";
import { html } from "./html.js";
import { findPage, home, PAGES } from "./pages.js";
import { Guard } from "./parts/guard.js";
import { Loading } from "./parts/loading.js";
import { Page } from "./parts/page.js";
import { Problem } from "./parts/problem.js";
import { Unheeded } from "./parts/unheeded.js";
import { Preferences } from "./preferences.js";
import { href, navigate, useRoute } from "./router.js";
import { useWords } from "./words.js";
import { shell } from "./words/shell.js";

/** @typedef {import("./session.js").Language} Language */

/** Which page shows what an id names. */
const PLACES = /** @type {const} */ ({ job: "jobs", dl: "dead-letters", rd: "redrives" });

/** @param {{language: Language, onLanguage: (to: Language) => void}} props */
export function Frame({ language, onLanguage }) {
  const t = useWords(shell);
  const caller = useCaller();
  const route = useRoute();
  const [open, setOpen] = useState(false);
  const path = route.path.length ? route.path : home(caller);
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault(); // the fragment names the page
    document.querySelector("h1")?.focus();
  };
  useEffect(() => setOpen(false), [path.join("/")]);
  return html`
    <a class="skip" href="#content" onClick=${skip}>${t("skip")}</a>
    <header class="top">
      <a class="brand" href="#/"><span lang="ja">受付</span> <span class="wide">Uketsuke</span></a>
      <${Find} />
      <button class="menu-button" aria-expanded=${open} aria-controls="menu" onClick=${() => setOpen(!open)}>
        ${t("menu")}
      </button>
    </header>
    <div class=${open ? "menu open" : "menu"} id="menu">
      <nav aria-label=${t("navigation")}><${Links} current=${path[0]} /></nav>
      <div class="account">
        <p class="who">${t("signed_in_as")} <b class="name">${caller.tenant_id ?? t("operator")}</b></p>
        <button onClick=${signOut}>${t("sign_out")}</button>
        <${Preferences} language=${language} onLanguage=${onLanguage} />
      </div>
    </div>
    <main id="content"><${Shown} path=${path} query=${route.query} /></main>
  `;
}

/** @param {{current: string | undefined}} props */
function Links({ current }) {
  const t = useWords(shell);
  const caller = useCaller();
  const pages = PAGES.filter((page) => page.label && page.allowed(caller));
  return html`<ul>
    ${pages.map(
      ({ pattern, label }) =>
        html`<li key=${pattern}>
          <a href=${href([pattern])} aria-current=${pattern === current ? "page" : undefined}>
            ${t(/** @type {keyof typeof shell.en} */ (label))}
          </a>
        </li>`,
    )}
  </ul>`;
}

/** Whoever has an id from a log or a colleague goes straight to it. */
function Find() {
  const t = useWords(shell);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [wrong, setWrong] = useState(false);
  const go = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const id = field.current?.value.trim() ?? "";
    const prefix = /^(job|dl|rd)_[0-9a-z]+$/.exec(id)?.[1];
    setWrong(!prefix);
    if (!prefix) return;
    navigate(href([PLACES[/** @type {keyof typeof PLACES} */ (prefix)], id]));
    if (field.current) field.current.value = "";
  };
  return html`<form class="find" role="search" onSubmit=${go} novalidate>
    <input
      ref=${field}
      type="search"
      aria-label=${t("find")}
      placeholder=${t("find_hint")}
      autocomplete="off"
      spellcheck=${false}
      aria-invalid=${wrong ? "true" : undefined}
      aria-describedby=${wrong ? "find-none" : undefined}
      onInput=${() => setWrong(false)}
    />
    ${wrong && html`<p id="find-none" class="refusal" role="alert">${t("find_none")}</p>`}
  </form>`;
}

/** @param {{path: string[], query: URLSearchParams}} props */
function Shown({ path, query }) {
  const t = useWords(shell);
  const caller = useCaller();
  const found = findPage(path);
  const { view, failed } = useView(found?.page ?? null);
  if (!found) return html`<${Page} title=${t("not_found_title")}><p>${t("not_found")}</p><//>`;
  const { allowed, refusal = "not_yours" } = found.page;
  if (!allowed(caller)) return html`<${Page} title=${t("refused_title")}><p>${t(refusal)}</p><//>`;
  if (failed) return html`<${Unloaded} />`;
  if (!view) return html`<${Loading} />`;
  // A page of another thing is another page: nothing of the one before may stay on it.
  return html`<${Guard} key=${path.join("/")}>
    <${Unheeded} heeded=${view.parameters ?? []} query=${query} />
    <${view.default} params=${found.params} query=${query} />
  <//>`;
}

/** A browser does not fetch a module again that it could not get: the whole console is loaded anew. */
function Unloaded() {
  const t = useWords(shell);
  return html`<${Page} title=${t("unloaded_title")}>
    <${Problem} error=${unreachable()} retry=${() => location.reload()} />
  <//>`;
}

/** @typedef {{page: any, view: import("./pages.js").View | null, failed: boolean}} Loaded */

/** @param {import("./pages.js").Page | null} page @returns {Loaded} */
function useView(page) {
  const nothing = { page, view: null, failed: false };
  const [loaded, setLoaded] = useState(/** @type {Loaded} */ (nothing));
  useEffect(() => {
    let wanted = true;
    page?.load().then(
      (view) => wanted && setLoaded({ page, view, failed: false }),
      () => wanted && setLoaded({ page, view: null, failed: true }),
    );
    return () => {
      wanted = false;
    };
  }, [page]);
  return loaded.page === page ? loaded : nothing;
}
