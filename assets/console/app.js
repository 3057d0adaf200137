// @ts-check
/** Starts the console: who is signed in, in which language, and the page that the URL names. */

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

import { ApiError, SIGNED_OUT, get, signOut } from "./api.js";
import { Signed } from "./caller.js";
import { Frame } from "./frame.js";
import { html } from "./html.js";
import { Loading } from "./parts/loading.js";
import { Problem } from "./parts/problem.js";
import { keepLanguage, readKey, readLanguage, readTheme, showTheme } from "./session.js";
import { SignIn } from "./sign_in.js";
import { Speech, useWords } from "./words.js";
import { shell } from "./words/shell.js";

/** @typedef {import("./session.js").Caller} Caller */

function App() {
  const [language, setLanguage] = useState(readLanguage());
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const speak = (/** @type {import("./session.js").Language} */ to) => {
    keepLanguage(to); // now, for the page may be left before an effect runs
    setLanguage(to);
  };
  return html`<${Speech.Provider} value=${language}>
    <${Session} language=${language} onLanguage=${speak} />
  <//>`;
}

/** @param {{language: import("./session.js").Language, onLanguage: (to: import("./session.js").Language) => void}} props */
function Session({ language, onLanguage }) {
  const { caller, ended, error, signedIn, retry } = useSession();
  const choice = { language, onLanguage };
  if (error) return html`<${Stuck} error=${error} retry=${retry} />`;
  if (caller === undefined) return html`<main class="alone"><${Loading} /></main>`;
  if (caller === null) return html`<${SignIn} ...${choice} ended=${ended} onSignedIn=${signedIn} />`;
  return html`<${Signed.Provider} value=${caller}><${Frame} ...${choice} /><//>`;
}

/** Nobody can say whose the key is; with another one, somebody may.
 * @param {{error: ApiError, retry: () => void}} props */
function Stuck({ error, retry }) {
  const t = useWords(shell);
  return html`<main class="alone">
    <h1>${t("brand")}</h1>
    <${Problem} error=${error} retry=${retry} />
    <button onClick=${() => signOut()}>${t("sign_out")}</button>
  </main>`;
}

/** The caller of the kept key: undefined while it is asked for, null if there is none. `ended`: it was
 * refused. */
function useSession() {
  const [caller, setCaller] = useState(/** @type {Caller | null | undefined} */ (undefined));
  const [ended, setEnded] = useState(false);
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const ask = async () => {
    setError(null);
    if (readKey() === null) return setCaller(null);
    try {
      setCaller((await get("/v1/key")).body);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (problem.status !== 401) setError(problem); // with 401 it has ended
    }
  };
  useEffect(() => {
    const out = (/** @type {any} */ event) => {
      setEnded(event.detail.refused);
      setError(null);
      setCaller(null);
    };
    window.addEventListener(SIGNED_OUT, out);
    ask();
    return () => window.removeEventListener(SIGNED_OUT, out);
  }, []);
  return { caller, ended, error, signedIn: setCaller, retry: ask };
}

showTheme(readTheme());
const root = document.getElementById("app");
if (root) render(html`<${App} />`, root);
