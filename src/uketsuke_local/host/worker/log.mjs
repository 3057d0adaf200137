/** Lines for the Node side, each marked with the Worker it comes from. */
import settings from "./settings.mjs";

const mark = (text) => `\u001f${settings.worker}\u001f${text}`;

export const writeOut = (text) => console.log(mark(text));
export const writeError = (text) => console.error(mark(text));
