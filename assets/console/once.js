// @ts-check
/** What is asked for once, though it is sent again: each request bears a name of its own. */

/** Made of random bytes, for `randomUUID` is not there where the console is served without TLS. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The header under which the same request starts nothing twice. @param {string} key */
export const under = (key) => ({ headers: { "Idempotency-Key": `"${key}"` } });
