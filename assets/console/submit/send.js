// @ts-check
/** Sends what stands in the form: uploads first, then the job, once however often it is repeated. */

import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, post, upload } from "../api.js";
import { freshKey, under } from "../once.js";
import { membersOf, planOf, textsIn, cutOf, wayOf } from "./draft.js";
import { keepTexts, linesOf } from "./kept.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("./kinds.js").Kind} Kind */
/** @typedef {import("./kinds.js").Offer} Offer */
/** What is being done now; `name` is the file's, null for a text. @typedef {{upload: number, of: number, name: string | null} | "job"} Step */

/**
 * @param {(job: any) => void} started  gets the job that the API has accepted
 */
export function useSending(started) {
  const [step, setStep] = useState(/** @type {Step | null} */ (null));
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const going = useRef(/** @type {AbortController | null} */ (null));
  const known = useRef({ refs: /** @type {Map<File | string, string>} */ (new Map()), said: "", key: "" });
  useEffect(() => () => going.current?.abort(), []);

  const send = async (/** @type {Draft} */ draft, /** @type {Kind} */ kind, /** @type {Offer} */ offer) => {
    if (going.current) return; // the second half of a double click
    const mine = new AbortController();
    going.current = mine;
    setError(null);
    try {
      const input = await uploaded(draft, kind, known.current.refs, { signal: mine.signal, onStep: setStep });
      setStep("job");
      const job = await ask({ ...membersOf(draft, kind, offer), input }, known.current);
      await keep(job, draft, kind);
      if (!mine.signal.aborted) started(job);
    } catch (problem) {
      if (mine.signal.aborted) return;
      if (!(problem instanceof ApiError)) throw problem;
      // An upload that is gone is made anew by the next try.
      if (problem.faults.some(({ code }) => code === "input_not_found")) known.current.refs.clear();
      setError(problem);
    } finally {
      going.current = null;
      setStep(null);
    }
  };
  return { step, error, send, forget: () => setError(null), stop: () => going.current?.abort() };
}

/**
 * @param {Draft} draft @param {Kind} kind @param {Map<File | string, string>} refs  of what is up already
 * @param {{signal: AbortSignal, onStep: (step: Step) => void}} options
 */
async function uploaded(draft, kind, refs, { signal, onStep }) {
  const { pieces, input } = planOf(draft, kind);
  for (const [at, piece] of pieces.entries()) {
    if (refs.has(piece)) continue;
    onStep({ upload: at + 1, of: pieces.length, name: typeof piece === "string" ? null : piece.name });
    const body = typeof piece === "string" ? new Blob([piece], { type: "text/plain" }) : piece;
    refs.set(piece, (await upload(body, signal)).ref);
  }
  return input(pieces.map((piece) => refs.get(piece) ?? ""));
}

/**
 * The same request goes under the same key: a repetition, be it after an answer that was lost, finds
 * the job that the first has started.
 * @param {object} document @param {{said: string, key: string}} known
 */
async function ask(document, known) {
  const said = JSON.stringify(document);
  if (said !== known.said) Object.assign(known, { said, key: freshKey() });
  return post("/v1/jobs", document, under(known.key));
}

/** @param {any} job @param {Draft} draft @param {Kind} kind */
async function keep(job, draft, kind) {
  if (!kind.forms.includes("texts")) return;
  const [file] = draft.files;
  if (wayOf(draft, kind) === "texts") keepTexts(job.id, textsIn(draft.text, cutOf(draft, kind)));
  else if (file && kind.forms.includes("ref")) keepTexts(job.id, (await linesOf(file)) ?? []);
}
