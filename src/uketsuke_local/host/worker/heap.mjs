/**
 * The memory of the interpreter, measured after each event.
 *
 * `memory` is the Wasm memory: what production counts, together with JavaScript's own heap, against an
 * isolate's 128 MB. It never shrinks, so it is also the highest that Python has been. `current` is what of
 * it is allocated: Python's live objects, its free lists, its modules.
 */
const MALLINFO_BYTES = 40;
const UORDBLKS = 7; // in words: the field that holds the bytes given out
const SAMPLE_EVERY_MS = 250; // counting takes milliseconds, more than a small event

/** Of the Worker: they outlive its interpreters. */
let events = 0;
let peak = 0;

export class Heap {
  #module;
  #sampledAt = 0;

  constructor(pyodideModule) {
    this.#module = pyodideModule;
  }

  get memory() {
    return this.#module.HEAPU8.buffer.byteLength;
  }

  /** Called after each event. */
  measure() {
    events += 1;
    if (Date.now() - this.#sampledAt >= SAMPLE_EVERY_MS) this.#sample();
  }

  report() {
    const current = this.#sample();
    return { current, peak, memory: this.memory, events };
  }

  #sample() {
    const current = this.#allocated();
    peak = Math.max(peak, current);
    this.#sampledAt = Date.now();
    return current;
  }

  #allocated() {
    const stack = this.#module.stackSave();
    const address = this.#module.stackAlloc(MALLINFO_BYTES);
    this.#module._mallinfo(address);
    const bytes = this.#module.HEAPU32[address / 4 + UORDBLKS];
    this.#module.stackRestore(stack);
    return bytes;
  }
}
