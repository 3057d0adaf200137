// @ts-check
/**
 * What this browser tab remembers. The key lives in `sessionStorage`: it goes with the tab, is read
 * by this origin alone, and never gets into a URL. Language and colours are no secrets and stay.
 */

const KEY = "uketsuke.key";
const LANGUAGE = "uketsuke.language";
const THEME = "uketsuke.theme";

/** @typedef {"en" | "ja"} Language */
/** @typedef {"auto" | "light" | "dark"} Theme */
/** Who is signed in, as `GET /v1/key` says.
 * @typedef {{key_id: string, tenant_id: string | null, scopes: string[]}} Caller */

/** @returns {string | null} */
export const readKey = () => sessionStorage.getItem(KEY);

/** @param {string} key */
export const keepKey = (key) => sessionStorage.setItem(KEY, key);

export const forgetKey = () => sessionStorage.removeItem(KEY);

/** @returns {Language} */
export function readLanguage() {
  const kept = localStorage.getItem(LANGUAGE);
  if (kept === "en" || kept === "ja") return kept;
  return navigator.languages.find((tag) => /^(ja|en)\b/.test(tag))?.startsWith("ja") ? "ja" : "en";
}

/** @param {Language} language */
export const keepLanguage = (language) => localStorage.setItem(LANGUAGE, language);

/** @returns {Theme} */
export function readTheme() {
  const kept = localStorage.getItem(THEME);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

/** @param {Theme} theme */
export function keepTheme(theme) {
  localStorage.setItem(THEME, theme);
  showTheme(theme);
}

/** @param {Theme} theme */
export function showTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Operators belong to no tenant: they see all jobs, and no content.
 * @param {Caller} caller */
export const isOperator = (caller) => caller.tenant_id === null;

/** A tenant's key may write and not read. @param {Caller} caller */
export const mayRead = (caller) => isOperator(caller) || caller.scopes.includes("jobs:read");

/** @param {Caller} caller */
export const mayWrite = (caller) => caller.scopes.includes("jobs:write");
