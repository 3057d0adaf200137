// @ts-check
/**
 * Where we are, out of the URL's fragment: `#/jobs/job_1?tab=events`. The fragment stays in the
 * browser; filters in it can be shared and reloaded. A key never gets into it.
 */

import { useEffect, useState } from "preact/hooks";

import { readKey } from "./session.js";

/** `path` holds decoded segments, `query` the parameters of the fragment.
 * @typedef {{path: string[], query: URLSearchParams}} Route */

/** @param {string} fragment @returns {Route} */
export function readRoute(fragment) {
  const [path = "", query = ""] = split(fragment.replace(/^#?\/?/, ""));
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

/**
 * The link to a place in the console.
 * @param {string[]} path
 * @param {Record<string, string | null | undefined> | URLSearchParams} [query]
 */
export function href(path, query = {}) {
  const pairs = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const set = pairs.filter(([, value]) => value !== "" && value != null);
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Go there; with `replace`, so that the way back does not lead here.
 * @param {string} link @param {{replace?: boolean}} [options] */
export function navigate(link, { replace = false } = {}) {
  if (!replace) location.hash = link;
  else {
    history.replaceState(null, "", link);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

/**
 * The way on from here when an act has ended. Who has gone elsewhere meanwhile, or has signed out, is
 * not fetched back.
 * @returns {(link: string) => void}
 */
export function wayOn() {
  const [from, key] = [placeIn(location.hash), readKey()];
  return (link) => {
    if (placeIn(location.hash) === from && readKey() === key) navigate(link);
  };
}

/** The page, whatever its parameters. @param {string} fragment */
const placeIn = (fragment) => readRoute(fragment).path.join("/");

/** Change parameters of the place where we are; null takes one out.
 * @param {Record<string, string | null>} changes */
export function setQuery(changes) {
  const { path, query } = readRoute(location.hash);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  navigate(href(path, query), { replace: true });
}

/** @returns {Route} */
export function useRoute() {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const look = () => setFragment(location.hash);
    window.addEventListener("hashchange", look);
    look();
    return () => window.removeEventListener("hashchange", look);
  }, []);
  return readRoute(fragment);
}

/** @param {string} text */
function split(text) {
  const at = text.indexOf("?");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
