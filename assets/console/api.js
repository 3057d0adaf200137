// @ts-check
/** The HTTP API, as the signed-in key may use it. Nothing here knows how anything looks. */

import { learnTime } from "./clock.js";
import { forgetKey, readKey } from "./session.js";

/** The event on `window` that says that nobody is signed in any more; `detail.refused`: the key was not taken. */
export const SIGNED_OUT = "uketsuke:signed-out";

/** So long an answer is waited for: a connection that died in silence never tells. */
const PATIENCE_SECONDS = 60;

/** @typedef {{pointer: string, code: string, detail: string}} Fault */
/** @typedef {{status: number, body: any, tag: string | null, retryAfter: number | null}} Answer */

/**
 * The API refused, or could not be asked: then `status` is 0 and `code` is `unreachable`.
 * `code` and `detail` are the API's own; `members` is its whole problem document (RFC 9457).
 */
export class ApiError extends Error {
  /** @param {{status: number, code: string, detail: string, members?: Record<string, any>, retryAfter?: number | null}} told */
  constructor({ status, code, detail, members = {}, retryAfter = null }) {
    super(detail);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.members = members;
    this.retryAfter = retryAfter;
    /** @type {Fault[]} */
    this.faults = Array.isArray(members.errors) ? members.errors : [];
  }
}

/**
 * Ask for a document. With `tag`, the answer's status may be 304: then there is no body.
 * @param {string} path
 * @param {{signal?: AbortSignal, tag?: string | null, key?: string}} [options]
 * @returns {Promise<Answer>}
 */
export function get(path, { signal, tag, key } = {}) {
  return ask(path, { headers: tag ? { "If-None-Match": tag } : {}, signal }, key);
}

/**
 * Do something. The body is the API's answer.
 * @param {string} path
 * @param {object} [document]
 * @param {{headers?: Record<string, string>}} [options]
 * @returns {Promise<any>}
 */
export async function post(path, document, { headers = {} } = {}) {
  return (await ask(path, withJson("POST", document, headers))).body;
}

/** @param {string} path @param {object} document @returns {Promise<any>} */
export async function put(path, document) {
  return (await ask(path, withJson("PUT", document, {}))).body;
}

/** @param {string} path @returns {Promise<void>} */
export async function remove(path) {
  await patiently({ method: "DELETE" }, (request) => open(path, request));
}

/**
 * Upload a file ahead of its job. Returns `{ref, bytes, sha256, content_type, expires_at}`.
 * @param {Blob} file
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function upload(file, signal) {
  const headers = { "Content-Type": file.type || "application/octet-stream" };
  // Nobody knows how long a file takes on its way; whoever sends it may stop it.
  return (await read(await open("/v1/inputs", { method: "PUT", headers, body: file, signal }))).body;
}

/** A path of the API with the parameters that are set.
 * @param {string} path @param {Record<string, string | number | null | undefined>} query */
export function pathWith(path, query) {
  const set = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** One segment of a path: what the caller names may hold anything.
 * @param {string} text */
export const segment = (text) => encodeURIComponent(text);

/** @param {string} method @param {object | undefined} document @param {Record<string, string>} headers */
function withJson(method, document, headers) {
  if (document === undefined) return { method, headers };
  return {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(document),
  };
}

/**
 * @param {string} path @param {RequestInit} request @param {string | null} [key]
 * @returns {Promise<Answer>}
 */
function ask(path, request, key) {
  return patiently(request, async (patient) => read(await open(path, patient, key)));
}

/**
 * Ask, and give up when it takes too long.
 * @template T
 * @param {RequestInit} request @param {(patient: RequestInit) => Promise<T>} act @returns {Promise<T>}
 */
async function patiently(request, act) {
  const patience = new AbortController();
  const timer = window.setTimeout(() => patience.abort(unreachable()), PATIENCE_SECONDS * 1000);
  const signal = request.signal ? AbortSignal.any([request.signal, patience.signal]) : patience.signal;
  try {
    return await act({ ...request, signal });
  } finally {
    window.clearTimeout(timer);
  }
}

/** The document that an answer holds. One that holds none broke off, or is not of the API.
 * @param {Response} response @returns {Promise<Answer>} */
async function read(response) {
  const { status, headers } = response;
  const body = status === 304 ? null : await readJson(response);
  if (body === null && status !== 304) throw unreachable();
  return { status, body, tag: headers.get("ETag"), retryAfter: secondsOf(headers.get("Retry-After")) };
}

/**
 * Ask, and leave it to the caller to read what comes: a result may be large, or no JSON.
 * @param {string} path @param {RequestInit} request @param {string | null} [key]
 * @returns {Promise<Response>}
 */
export async function open(path, request, key = readKey()) {
  // An address of the API only: a link out of a document must not carry the key elsewhere.
  if (new URL(path, location.href).origin !== location.origin) throw new TypeError("a path is wanted");
  const headers = { ...request.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const response = await reach(path, { ...request, headers });
  if (response.ok || response.status === 304) return response;
  const members = (await readJson(response)) ?? {};
  if (response.status === 401 && key !== null && key === readKey()) endSession({ refused: true });
  throw new ApiError({
    status: response.status,
    code: members.code ?? "unexpected",
    detail: members.detail ?? members.title ?? `HTTP ${response.status}`,
    members,
    retryAfter: secondsOf(response.headers.get("Retry-After")),
  });
}

/** @param {string} path @param {RequestInit} request */
async function reach(path, request) {
  try {
    // The tags are ours to send: the browser's own cache would turn a 304 into a 200.
    const response = await fetch(path, { ...request, cache: "no-store", credentials: "same-origin" });
    learnTime(response.headers.get("Date"));
    return response;
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw unreachable();
  }
}

/** No answer came, or it broke off. */
export const unreachable = () => new ApiError({ status: 0, code: "unreachable", detail: "" });

/** @param {Response} response @returns {Promise<any>} */
async function readJson(response) {
  if (!/[/+]json/.test(response.headers.get("Content-Type") ?? "")) return null;
  try {
    return await response.json();
  } catch {
    return null;
  }
}

/** `Retry-After` in seconds; the API sends no dates. @param {string | null} header */
function secondsOf(header) {
  return header && /^\d+$/.test(header) ? Number(header) : null;
}

export const signOut = () => endSession({ refused: false });

/** @param {{refused: boolean}} detail  whether it is the API that ends it */
function endSession(detail) {
  forgetKey();
  window.dispatchEvent(new CustomEvent(SIGNED_OUT, { detail }));
}
