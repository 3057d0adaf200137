// @ts-check
/** The way in: a key, tried before it is kept. */

import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, get } from "./api.js";
import { html } from "./html.js";
import { Preferences } from "./preferences.js";
import { Problem } from "./parts/problem.js";
import { keepKey } from "./session.js";
import { useWords } from "./words.js";
import { shell } from "./words/shell.js";
import { signIn } from "./words/sign_in.js";

/** @typedef {import("./session.js").Language} Language */

/** `ended`: somebody was signed in until their key was refused.
 * @param {{language: Language, ended: boolean, onLanguage: (to: Language) => void,
 *   onSignedIn: (caller: import("./session.js").Caller) => void}} props */
export function SignIn({ language, ended, onLanguage, onSignedIn }) {
  const t = useWords(signIn);
  const s = useWords(shell);
  const [refusal, setRefusal] = useState(
    /** @type {"ended" | "missing" | "refused" | null} */ (ended ? "ended" : null),
  );
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const [busy, setBusy] = useState(false);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    document.title = `${t("title")} · ${s("brand")}`;
    field.current?.focus();
  }, [language]);

  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const key = field.current?.value.trim() ?? "";
    setRefusal(key ? null : "missing");
    setError(null);
    if (!key) return;
    setBusy(true);
    try {
      const { body } = await get("/v1/key", { key });
      keepKey(key);
      onSignedIn(body);
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 401) setRefusal("refused");
      else if (problem instanceof ApiError) setError(problem);
      else setRefusal("refused"); // no header can hold what was pasted
    } finally {
      setBusy(false);
    }
  };

  return html`<main class="alone">
    <p class="brand"><span lang="ja">受付</span> Uketsuke</p>
    <h1>${t("title")}</h1>
    <form onSubmit=${submit} class="stack" novalidate>
      <label for="key">${t("key")}</label>
      <input
        id="key"
        ref=${field}
        type="password"
        autocomplete="off"
        spellcheck=${false}
        aria-describedby="key-hint"
        aria-invalid=${refusal ? "true" : undefined}
        aria-errormessage=${refusal ? "key-refusal" : undefined}
      />
      <p id="key-hint" class="hint">${t("key_hint")}</p>
      ${refusal && html`<p id="key-refusal" class="refusal" role="alert">${t(refusal)}</p>`}
      ${error && html`<${Problem} error=${error} />`}
      <button class="primary" disabled=${busy}>${t("sign_in")}</button>
      <p class="hint">${t("kept")}</p>
    </form>
    <${Preferences} language=${language} onLanguage=${onLanguage} />
  </main>`;
}
