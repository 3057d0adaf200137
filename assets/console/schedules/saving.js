// @ts-check
/** Saving what the form says: put whole, and over nobody's change unseen. */

import { useState } from "preact/hooks";

import { ApiError, put } from "../api.js";
import { faultsAt } from "../parts/field.js";
import { href, wayOn } from "../router.js";
import { useWords } from "../words.js";
import { schedules } from "../words/schedules.js";
import { differing, readSchedule, schedulePath, wantedOf } from "./document.js";
import { blank, draftOf, isOwn, readDraft } from "./draft.js";

/** @typedef {import("./document.js").Schedule} Schedule */
/** @typedef {import("./document.js").Wanted} Wanted */
/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("../api.js").Fault} Fault */
/** How it is by now, and which members differ from what was seen.
 * @typedef {{now: Schedule | null, members: string[]}} ClashFound */
/** What came of a try to save; `refusals` counts those that were refused.
 * @typedef {{faults: Fault[], error: ApiError | null, clash: ClashFound | null, refusals: number}} Outcome */

/** @type {Outcome} */
const NOTHING_YET = { faults: [], error: null, clash: null, refusals: 0 };

/** The draft, and saving it. @param {Schedule | null} known  what is being changed, as it was read */
export function useSaving(known) {
  const t = useWords(schedules);
  const [draft, setDraft] = useState(() => (known ? draftOf(known) : blank()));
  const [base, setBase] = useState(known); // how it is, as far as whoever saves has seen
  const [outcome, setOutcome] = useState(NOTHING_YET);
  const [busy, setBusy] = useState(false);

  const save = async (seen = base) => {
    if (busy) return;
    const go = wayOn();
    setBusy(true);
    setOutcome((before) => ({ ...NOTHING_YET, refusals: before.refusals }));
    const { wanted, faults } = readDraft(draft);
    const refusal = faults.length ? { faults } : await putOver(draft.name, wanted, seen);
    setBusy(false);
    if (!refusal) return go(href(["schedules", draft.name]));
    setOutcome((before) => ({ ...before, ...refusal, refusals: before.refusals + 1 }));
  };
  const settle = (/** @type {Schedule | null} */ now, /** @type {boolean} */ mine) => {
    setBase(now);
    if (mine) return save(now);
    setOutcome(NOTHING_YET);
    if (now) setDraft(draftOf(now));
  };
  const change = (/** @type {Partial<Draft>} */ changes) => {
    setDraft((before) => ({ ...before, ...changes }));
    // What was refused is not what stands there now.
    setOutcome((before) => ({ ...before, faults: withoutThose(before.faults, changes) }));
  };
  // What we found ourselves is told in the language that is shown.
  const faults = outcome.faults.map((fault) => (isOwn(fault.code) ? { ...fault, detail: t(fault.code) } : fault));
  return { draft, change, ...outcome, faults, busy, save, settle };
}

/**
 * Put it, unless somebody has changed it since it was `seen`. Returns what stands in the way, if anything.
 * @param {string} name @param {Wanted} wanted @param {Schedule | null} seen
 * @returns {Promise<Partial<Outcome> | null>}
 */
async function putOver(name, wanted, seen) {
  try {
    const now = await readSchedule(name);
    // An earlier answer may have been lost: then it is as it is wished already.
    if (now && differing(wanted, wantedOf(now)).length === 0) return null;
    const clash = clashOf(seen, now);
    if (clash) return { clash };
    await put(schedulePath(name), wanted);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { faults: error.faults, error: allPlaced(error.faults) ? null : error };
  }
}

/** What somebody has done to it since it was seen, if anything.
 * @param {Schedule | null} seen @param {Schedule | null} now @returns {ClashFound | null} */
function clashOf(seen, now) {
  if (seen === null || now === null) return seen === now ? null : { now, members: [] };
  const members = differing(wantedOf(seen), wantedOf(now));
  return members.length ? { now, members } : null;
}

/** The faults that are left when these members have changed.
 * @param {Fault[]} faults @param {Partial<Draft>} changes */
function withoutThose(faults, changes) {
  const pointers = Object.keys(changes).map((member) => (member === "form" ? "/input" : `/${member}`));
  const mended = pointers.flatMap((pointer) => faultsAt(faults, pointer));
  return faults.filter((fault) => !mended.includes(fault));
}

const PLACED = /^\/(name|cron|timezone|kind|input|params|overlap|run_key)(\/|$)/;

/** Whether each fault is shown beside its field. @param {Fault[]} faults */
const allPlaced = (faults) => faults.length > 0 && faults.every(({ pointer }) => PLACED.test(pointer));
