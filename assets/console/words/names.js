// @ts-check
import { define } from "../words.js";

/** The API's own names, as people read them. A test holds each list to the API's description. */

export const states = define({
  en: {
    accepted: "Accepted",
    running: "Running",
    retrying: "Retrying",
    succeeded: "Succeeded",
    failed: "Failed",
    canceled: "Canceled",
  },
  ja: {
    accepted: "受付済み",
    running: "実行中",
    retrying: "再試行待ち",
    succeeded: "成功",
    failed: "失敗",
    canceled: "取り消し",
  },
});

export const kinds = define({
  en: { summarize: "Summary", transcribe: "Transcript", embed: "Embedding", report: "Report" },
  ja: { summarize: "要約", transcribe: "文字起こし", embed: "埋め込み", report: "レポート" },
});
