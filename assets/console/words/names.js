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

/** What operators do. */
export const actions = define({
  en: {
    "dead_letter.redriven": "Dead letter redriven",
    "dead_letter.discarded": "Dead letter discarded",
    "redrive.started": "Bulk redrive started",
    "redrive.stopped": "Bulk redrive stopped",
    "doctor.repaired": "Store repaired",
  },
  ja: {
    "dead_letter.redriven": "デッドレターの再実行",
    "dead_letter.discarded": "デッドレターの破棄",
    "redrive.started": "一括再実行の開始",
    "redrive.stopped": "一括再実行の停止",
    "doctor.repaired": "ストアの修復",
  },
});

/** What a schedule's time does while the job of an earlier one is live. */
export const overlaps = define({
  en: { skip: "Skip", allow: "Allow" },
  ja: { skip: "見送る", allow: "許可する" },
});

/** How a schedule's time has come out. */
export const occurrences = define({
  en: { started: "Started", skipped: "Skipped" },
  ja: { started: "開始", skipped: "見送り" },
});
