// @ts-check
/** Who is signed in, for every component below. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** @typedef {import("./session.js").Caller} Caller */

export const Signed = createContext(/** @type {Caller | null} */ (null));

/** @returns {Caller} */
export function useCaller() {
  const caller = useContext(Signed);
  if (caller === null) throw new Error("nobody is signed in here");
  return caller;
}
