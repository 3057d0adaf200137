/** The Worker that stands in for Workers AI, bound where a configuration asks for it. */
import fs from "node:fs";
import path from "node:path";

const NAME = "uketsuke-workers-ai";
const SCRIPT = path.join(import.meta.dirname, "..", "ai", "stand_in.mjs");

/** @returns the service binding that takes the place of a wrangler file's `[ai]` */
export function aiBinding() {
  return { AI: { name: NAME, entrypoint: "WorkersAi" } };
}

/** @param {{base_url: string, api_key: string}} models the server of the local models */
export function aiWorker({ base_url, api_key }) {
  const contents = fs.readFileSync(SCRIPT, "utf8");
  return {
    name: NAME,
    compatibilityDate: "2026-11-01",
    modules: [{ type: "ESModule", path: "stand_in.mjs", contents }],
    bindings: { MODEL_BASE_URL: base_url, MODEL_API_KEY: api_key },
  };
}
