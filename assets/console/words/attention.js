// @ts-check
import { define } from "../words.js";

/** What needs a person, and why nobody can say that nothing does. */
export const attention = define({
  en: {
    title: "What needs you",
    now: "Now",
    soon: "Soon",
    later: "Later",
    unsure: "Not known",
    calm: "Nothing needs you.",
    calm_checked: "Checked at {checked}; the sweep looked at {swept}.",
    found: { one: "{count} thing needs you", other: "{count} things need you" },
    asked: "Asking what needs you…",
    firing_since: "It fired {ago}.",
    limit: "The limit is {limit}.",

    metrics_failed: "The figures cannot be fetched. Whether something is wrong now, nobody knows.",
    metrics_asleep: "The figures were fetched {ago}. Whether something is wrong now, nobody knows.",
    alerts_failed: "The alerts cannot be fetched. One may be firing.",
    alerts_old: "The alerts are {value} older than the figures. One may be firing.",
    rollup_never: "The sweep has never rolled up the figures: is it running?",
    rollup_old: "The sweep rolled up the figures {value} ago: is it running? What it tells is that old.",
    conditions_none: "The sweep has reckoned no condition yet: nobody watches the limits.",
    conditions_old: "The sweep reckoned the conditions {value} ago: nobody watches the limits.",
    backlog_unknown: "More jobs live than can be counted at once, and no sweep has counted them.",
  },
  ja: {
    title: "対応が必要なこと",
    now: "今すぐ",
    soon: "早めに",
    later: "後で",
    unsure: "不明",
    calm: "対応が必要なことはありません。",
    calm_checked: "確認: {checked}、定期処理の集計: {swept}",
    found: "対応が必要なことが {count} 件あります",
    asked: "対応が必要なことを確認しています…",
    firing_since: "発報: {ago}。",
    limit: "しきい値は {limit} です。",

    metrics_failed: "指標を取得できません。異常の有無は不明です。",
    metrics_asleep: "指標は{ago}に取得したものです。現在の異常の有無は不明です。",
    alerts_failed: "アラートを取得できません。発報中のものがあるかもしれません。",
    alerts_old: "アラートは指標より{value}古いものです。発報中のものがあるかもしれません。",
    rollup_never: "定期処理による集計がまだ一度もありません。定期処理は動いていますか。",
    rollup_old: "定期処理の最後の集計は {value}前です。定期処理は動いていますか。指標はその時点のものです。",
    conditions_none: "条件がまだ一度も判定されていません。しきい値は監視されていません。",
    conditions_old: "条件の最後の判定は {value}前です。しきい値は監視されていません。",
    backlog_unknown: "進行中のジョブが一度に数えられる数を超えており、定期処理による集計もありません。",
  },
});

/** A sentence for each thing that may need a person, by the name of its condition where it has one. */
export const sentences = define({
  en: {
    dead_letters_open: {
      one: "{count} dead letter is open and waits for a decision.",
      other: "{count} dead letters are open and wait for a decision.",
    },
    dead_letters_past_triage: {
      one: "{count} dead letter is past its time, and nobody has decided.",
      other: "{count} dead letters are past their time, and nobody has decided.",
    },
    dead_letters_expiring: {
      one: "{count} open dead letter loses its input soon; then no redrive can bring it back.",
      other: "{count} open dead letters lose their inputs soon; then no redrive can bring them back.",
    },
    dead_letters_growth: {
      one: "{count} job ended badly in the last hour, {before} in the hour before.",
      other: "{count} jobs ended badly in the last hour, {before} in the hour before.",
    },
    dlq_oldest_seconds: "A message has waited in the dead-letter queue for {value}: is its consumer down?",
    oldest_waiting_seconds: "The job that has waited longest was accepted {value} ago.",
    oldest_due_seconds: "A job has been due for {value}, and nobody takes it.",
    failed_per_mille: "{value} of the jobs that ended in the last hour failed.",
    budget_used_percent: "{subject} has used {value} of what it may spend today.",
    spend_today_cents: "Today has cost {value}.",
    sweep_lag_seconds: "A duty of the sweep has not been done for {value}.",
    lanes_denied: {
      one: "{count} model refuses our key or is not known: {subject}",
      other: "{count} models refuse our key or are not known, first {subject}",
    },
    other: "{label} is {value}.",
    firing_within: "{label} still fires, and is within its limit again: {value}.",
    firing_unknown: "{label} still fires, and its value is not known now.",
    untold: {
      one: "{count} alert could not be delivered ({subject}): nobody was told.",
      other: "{count} alerts could not be delivered ({subject}): nobody was told.",
    },
    outbox_lag_seconds: "A job should have been looked at {value} ago, and was not.",
    oldest_running_seconds: "An attempt has been running for {value}.",
    dead_queue: {
      one: "{count} message waits in the dead-letter queue.",
      other: "{count} messages wait in the dead-letter queue.",
    },
  },
  ja: {
    dead_letters_open: "未対応のデッドレターが {count} 件あり、判断を待っています。",
    dead_letters_past_triage: "デッドレター {count} 件が、判断されないまま期限を過ぎています。",
    dead_letters_expiring: "未対応のデッドレター {count} 件の入力がまもなく失われます。失われると再実行できません。",
    dead_letters_growth: "直近 1 時間に {count} 件のジョブが失敗しました（その前の 1 時間は {before} 件）。",
    dlq_oldest_seconds: "デッドレターキューのメッセージが {value}待っています。コンシューマーは動いていますか。",
    oldest_waiting_seconds: "最も長く待っているジョブは {value}前に受け付けたものです。",
    oldest_due_seconds: "{value}前に実行されるはずのジョブが、まだ実行されていません。",
    failed_per_mille: "直近 1 時間に終了したジョブの {value} が失敗しました。",
    budget_used_percent: "{subject} が今日の予算の {value} を使いました。",
    spend_today_cents: "今日の費用は {value} です。",
    sweep_lag_seconds: "定期処理の一部が {value}行われていません。",
    lanes_denied: "{count} 個のモデルがキーを拒否しているか、見つかりません: {subject}",
    other: "{label}: {value}",
    firing_within: "「{label}」は発報中ですが、しきい値以内に戻りました（{value}）。",
    firing_unknown: "「{label}」は発報中ですが、現在の値は不明です。",
    untold: "アラート {count} 件を通知できませんでした（{subject}）。誰にも届いていません。",
    outbox_lag_seconds: "{value}前に確認されるはずのジョブが、まだ確認されていません。",
    oldest_running_seconds: "{value}実行中の試行があります。",
    dead_queue: "デッドレターキューで {count} 件のメッセージが待っています。",
  },
});
