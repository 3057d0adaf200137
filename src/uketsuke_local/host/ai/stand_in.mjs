/**
 * A stand-in for Workers AI, bound as `AI`: it has the binding's `run`, asks the local models whatever
 * a model is called, answers in the shapes of Workers AI's models and raises its errors.
 *
 * Source: developers.cloudflare.com/workers-ai, models and platform/errors; the binding's own code
 * in workerd (src/cloudflare/internal/ai-api.ts).
 */
import { WorkerEntrypoint } from "cloudflare:workers";

const CHAT = "extractive-e5";
const EMBEDDINGS = "multilingual-e5-small";
const SPEECH = "whisper-base";

const NO_MODEL = [5007, "No such model or task"];
const NOT_ALLOWED = [5018, "The account is not allowed to access this model"];
const BY_CODE = {
  insufficient_quota: [
    3036,
    "You have used up your daily free allocation of 10,000 neurons.",
  ],
  content_filter: [2016, "Prompt blocked due to security configurations"],
  context_length_exceeded: [
    5021,
    "The estimated number of input and maximum output tokens exceeded this model context window limit",
  ],
  invalid_file: [3010, "Invalid or incomplete input for the model"],
  model_not_available: NO_MODEL,
};
const BY_STATUS = {
  401: NOT_ALLOWED,
  403: NOT_ALLOWED,
  404: NO_MODEL,
  408: [3007, "Request timeout"],
  413: [3006, "Request is too large"],
  429: [3040, "No more data centers to forward the request to"],
};
const OTHER_REFUSAL = [
  5006,
  "Error: the input does not fit the model's schema",
];

class AiError extends Error {
  constructor([internalCode, description]) {
    super(`${internalCode}: ${description}`);
    this.name = "AiError";
  }
}

class InferenceUpstreamError extends Error {
  name = "InferenceUpstreamError";
}

export class WorkersAi extends WorkerEntrypoint {
  async run(model, inputs, _options = {}) {
    if (!model.startsWith("@")) throw new AiError(NO_MODEL);
    if (inputs.messages) return this.#chat(model, inputs);
    if (inputs.text) return this.#embed(inputs);
    if (inputs.audio) return this.#hear(model, inputs);
    throw new AiError(OTHER_REFUSAL);
  }

  /** Meta's models answer `response`, newer ones in OpenAI's shape. */
  async #chat(model, { messages, max_tokens }) {
    const asked = { model: CHAT, messages, max_tokens };
    const answer = await this.#ask("chat/completions", JSON.stringify(asked));
    if (!model.startsWith("@cf/meta/")) return { ...answer, model };
    const [{ message }] = answer.choices;
    return { response: message.content, tool_calls: [], usage: answer.usage };
  }

  async #embed({ text }) {
    const asked = { model: EMBEDDINGS, input: text };
    const { data } = await this.#ask("embeddings", JSON.stringify(asked));
    const rows = data.map(({ embedding }) => embedding);
    return { shape: [rows.length, rows[0]?.length ?? 0], data: rows };
  }

  async #hear(model, { audio, language }) {
    const form = new FormData();
    form.set("model", SPEECH);
    form.set("response_format", "verbose_json");
    if (language) form.set("language", language);
    form.set("file", await recordingOf(audio), "audio");
    const heard = await this.#ask("audio/transcriptions", form);
    if (model.startsWith("@cf/deepgram/")) return asNova(heard);
    return model.includes("large")
      ? asLargeWhisper(heard)
      : asSmallWhisper(heard);
  }

  async #ask(route, body) {
    const headers = { authorization: `Bearer ${this.env.MODEL_API_KEY}` };
    if (typeof body === "string") headers["content-type"] = "application/json";
    const url = `${this.env.MODEL_BASE_URL}/${route}`;
    const response = await fetch(url, { method: "POST", headers, body });
    const content = await response.text();
    if (!response.ok) throw refusal(response.status, content);
    return JSON.parse(content);
  }
}

function refusal(status, content) {
  const row = BY_CODE[codeIn(content)] ?? BY_STATUS[status];
  if (row) return new AiError(row);
  if (status < 500) return new AiError(OTHER_REFUSAL);
  return new InferenceUpstreamError(content);
}

function codeIn(content) {
  try {
    return JSON.parse(content).error.code;
  } catch {
    return null;
  }
}

/** Base64, numbers, or a stream with its type: as the models take it. */
async function recordingOf(audio) {
  if (typeof audio === "string")
    return new Blob([Uint8Array.fromBase64(audio)]);
  if (Array.isArray(audio)) return new Blob([Uint8Array.from(audio)]);
  return new Response(audio.body).blob();
}

function asLargeWhisper({ language, duration, text, segments }) {
  return { transcription_info: { language, duration }, text, segments };
}

function asSmallWhisper({ text, segments }) {
  return { text, words: wordsOf(segments), vtt: "WEBVTT" };
}

function asNova({ language, duration, text, segments }) {
  const best = { transcript: text, confidence: 1, words: wordsOf(segments) };
  const channel = { detected_language: language, alternatives: [best] };
  return { metadata: { duration }, results: { channels: [channel] } };
}

/** The local model times no words: each of its segments stands for one. */
function wordsOf(segments = []) {
  return segments.map(({ start, end, text }) => ({ word: text, start, end }));
}

export default {};
