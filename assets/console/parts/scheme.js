// @ts-check
/** Colours for what CSS does not reach: a canvas must be painted anew when the scheme changes. */

import { useEffect, useReducer } from "preact/hooks";

/** The colour of a token, such as `--accent`, as it is now. @param {string} token */
export function ink(token) {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** A number that changes with the colours. */
export function useScheme() {
  const [turn, change] = useReducer((/** @type {number} */ n) => n + 1, 0);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const paper = matchMedia("print");
    const chosen = new MutationObserver(() => change(0));
    const changed = () => change(0);
    system.addEventListener("change", changed);
    paper.addEventListener("change", changed);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", changed);
      paper.removeEventListener("change", changed);
      chosen.disconnect();
    };
  }, []);
  return turn;
}
