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

/** The way by which a job came to its dead letter. */
export const roads = define({
  en: {
    permanent: "No retry could help, so it failed at once",
    exhausted: "Every attempt failed",
    crashed: "It took its worker down",
    stale: "Its run outlived the limit",
    deadline: "Its time was over before it was done",
    budget: "The money was not there",
    undecodable: "A message in the queue that is no job’s",
    queue_dlq: "The queue had given up its message",
  },
  ja: {
    permanent: "再試行しても無駄なため、すぐに失敗",
    exhausted: "すべての試行が失敗",
    crashed: "ワーカーを異常終了させた",
    stale: "実行が制限時間を超えた",
    deadline: "終わる前に期限が過ぎた",
    budget: "予算が足りなかった",
    undecodable: "どのジョブのものでもないメッセージ",
    queue_dlq: "キューがメッセージの配信を断念",
  },
});

/** What most likely helps. */
export const verdicts = define({
  en: {
    redrive: "Redrive once the cause is over",
    fix_input: "Mend the input with a patch, or discard",
    fix_configuration: "Mend the configuration, then redrive",
    wait: "Wait until the provider’s allowance renews, then redrive",
  },
  ja: {
    redrive: "原因が解消したら再実行",
    fix_input: "パッチで入力を直して再実行、または破棄",
    fix_configuration: "設定を直してから再実行",
    wait: "プロバイダーの利用枠が戻るのを待ってから再実行",
  },
});

export const letterStatuses = define({
  en: { open: "Open", redriven: "Redriven", discarded: "Discarded" },
  ja: { open: "未対応", redriven: "再実行済み", discarded: "破棄済み" },
});

/** How an attempt ended. */
export const outcomes = define({
  en: { succeeded: "Succeeded", deferred: "Given back", failed: "Failed", lost: "Lost", canceled: "Canceled" },
  ja: { succeeded: "成功", deferred: "差し戻し", failed: "失敗", lost: "喪失", canceled: "取り消し" },
});

/** Where a bulk redrive stands. */
export const redriveStates = define({
  en: { canary: "Canary", running: "Running", stopped: "Stopped", done: "Done" },
  ja: { canary: "先行確認中", running: "実行中", stopped: "停止", done: "完了" },
});

/** Why a bulk redrive was stopped. */
export const stops = define({
  en: {
    asked: "A person stopped it",
    canaries_failed: "It stopped by itself: most of the first ones failed again as before",
    still_failing: "It stopped by itself: most of the latest ones failed again as before",
  },
  ja: {
    asked: "担当者が停止しました",
    canaries_failed: "自動停止：先行分の過半数が前と同じ失敗をしました",
    still_failing: "自動停止：直近の過半数が前と同じ失敗をしました",
  },
});

/** Why a bulk redrive has passed a letter over, and what helps. */
export const skips = define({
  en: {
    not_replayable: "As they are they would fail again: redrive each with a patch",
    input_gone: "Their input, or their job, was deleted after its time",
    needs_force: "Redriven three times already: redrive each by itself",
    run_in_progress: "A live job holds the run key: redrive once that has ended",
    not_taken: "This deployment would not take the job any more",
    unavailable: "The input could not be read: try again when storage is well",
    unexpected: "Our own fault: the log’s letter_not_redriven says where",
  },
  ja: {
    not_replayable: "このままでは再び失敗します。パッチをつけて個別に再実行してください",
    input_gone: "入力またはジョブが保存期間を過ぎて削除されています",
    needs_force: "すでに 3 回再実行されています。個別に再実行してください",
    run_in_progress: "実行キーを使用中のジョブがあります。終了後に再実行してください",
    not_taken: "現在の構成ではこのジョブを受け付けられません",
    unavailable: "入力を読み出せませんでした。ストレージの復旧後に再度実行してください",
    unexpected: "システム側の不具合です。ログの letter_not_redriven を確認してください",
  },
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
