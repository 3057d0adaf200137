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

/** Why an attempt or a job failed. */
export const classes = define({
  en: {
    timeout: "Timed out",
    throttled: "Throttled",
    unavailable: "Provider unavailable",
    quota: "Allowance used up",
    invalid_input: "Invalid input",
    too_large: "Too large",
    refused: "Refused by policy",
    denied: "Access denied",
    not_found: "Not found",
    budget: "Over budget",
    deadline: "Deadline passed",
    lost: "Lost",
    crashed: "Crashed",
    stale: "Stale",
    unknown: "Unknown",
  },
  ja: {
    timeout: "時間切れ",
    throttled: "流量制限",
    unavailable: "プロバイダー利用不可",
    quota: "利用枠の超過",
    invalid_input: "不正な入力",
    too_large: "サイズ超過",
    refused: "ポリシーによる拒否",
    denied: "アクセス拒否",
    not_found: "見つからない",
    budget: "予算超過",
    deadline: "期限切れ",
    lost: "消失",
    crashed: "異常終了",
    stale: "応答なし",
    unknown: "不明",
  },
});

/** How an attempt ended, as the events of a job name it. */
export const ends = define({
  en: {
    succeeded: "Succeeded",
    failed: "Failed",
    retrying: "Failed, to be retried",
    deferred: "Given back, not counted",
    canceled: "Canceled",
    running: "Lost, taken over",
  },
  ja: {
    succeeded: "成功",
    failed: "失敗",
    retrying: "失敗（再試行へ）",
    deferred: "差し戻し（回数に含めない）",
    canceled: "取り消し",
    running: "消失（引き継ぎ）",
  },
});

export const origins = define({
  en: { api: "A call of the API", schedule: "A schedule", redrive: "A redrive" },
  ja: { api: "API の呼び出し", schedule: "スケジュール", redrive: "再実行" },
});

export const engines = define({
  en: { queue: "The queue", workflow: "A workflow" },
  ja: { queue: "キュー", workflow: "ワークフロー" },
});
