// @ts-check
/** Language and colours. */

import { useState } from "preact/hooks";

import { html } from "./html.js";
import { keepTheme, readTheme } from "./session.js";
import { useWords } from "./words.js";
import { shell } from "./words/shell.js";

/** @typedef {import("./session.js").Language} Language */

/** @param {{language: Language, onLanguage: (to: Language) => void}} props */
export function Preferences({ language, onLanguage }) {
  const t = useWords(shell);
  const [theme, setTheme] = useState(readTheme());
  const paint = (/** @type {any} */ event) => {
    keepTheme(event.currentTarget.value);
    setTheme(event.currentTarget.value);
  };
  return html`<div class="preferences">
    <select
      aria-label=${t("language")}
      value=${language}
      onChange=${(/** @type {any} */ event) => onLanguage(event.currentTarget.value)}
    >
      <option value="en" lang="en">English</option>
      <option value="ja" lang="ja">日本語</option>
    </select>
    <select aria-label=${t("theme")} value=${theme} onChange=${paint}>
      <option value="auto">${t("theme_auto")}</option>
      <option value="light">${t("theme_light")}</option>
      <option value="dark">${t("theme_dark")}</option>
    </select>
  </div>`;
}
