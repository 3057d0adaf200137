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

/** What is worth an alert. */
export const conditions = define({
  en: {
    dead_letters_open: "Open dead letters",
    dead_letters_past_triage: "Dead letters past their time",
    dead_letters_expiring: "Dead letters about to lose their input",
    dead_letters_growth: "Jobs that ended badly in an hour",
    dlq_oldest_seconds: "Oldest message of the dead-letter queue",
    oldest_waiting_seconds: "Oldest waiting job",
    oldest_due_seconds: "Job overdue most",
    failed_per_mille: "Share of failed jobs",
    budget_used_percent: "Use of a tenant's daily budget",
    spend_today_cents: "Cost of today",
    sweep_lag_seconds: "Delay of the sweep",
    lanes_denied: "Models that refuse us",
  },
  ja: {
    dead_letters_open: "未対応のデッドレター",
    dead_letters_past_triage: "判断の期限を過ぎたデッドレター",
    dead_letters_expiring: "まもなく入力が失われるデッドレター",
    dead_letters_growth: "1 時間に失敗したジョブ",
    dlq_oldest_seconds: "デッドレターキューの最古のメッセージ",
    oldest_waiting_seconds: "最も長く待っているジョブ",
    oldest_due_seconds: "最も遅れているジョブ",
    failed_per_mille: "失敗の割合",
    budget_used_percent: "テナントの 1 日の予算の使用率",
    spend_today_cents: "今日の費用",
    sweep_lag_seconds: "定期処理の遅れ",
    lanes_denied: "拒否しているモデル",
  },
});

export const alertStates = define({
  en: { ok: "Within its limit", pending: "Above its limit", firing: "Firing" },
  ja: { ok: "正常", pending: "超過（様子見）", firing: "発報中" },
});

/** Why the webhook of the alerts was not told. */
export const deliveryFaults = define({
  en: {
    timeout: "no answer in time",
    unreachable: "no connection, or a wrong URL",
    redirected: "redirected: set the new URL",
    refused: "refused by the receiver",
    broken: "the receiver is broken",
  },
  ja: {
    timeout: "時間内に応答なし",
    unreachable: "接続できないか URL が誤り",
    redirected: "転送された（新しい URL を設定）",
    refused: "受信側が拒否",
    broken: "受信側の障害",
  },
});
