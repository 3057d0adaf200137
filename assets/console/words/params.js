// @ts-check
import { define } from "../words.js";

/** Words for what a submission may say. All are optional: what is new is shown by its own name. */

export const fields = define({
  en: {
    max_words: "Words at most",
    max_words_per_source: "Words at most, of each source",
    language: "Language",
    style: "Style",
    title: "Title",
    on_source_failure: "If a source cannot be used",
    run_key: "Run key",
    on_conflict: "If the run key is taken",
    max_attempts: "Attempts at most",
    deadline_seconds: "Deadline, in seconds",
    max_cost_usd: "Cost at most, in US dollars",
  },
  ja: {
    max_words: "最大語数",
    max_words_per_source: "資料ごとの最大語数",
    language: "言語",
    style: "形式",
    title: "題名",
    on_source_failure: "使えない資料があるとき",
    run_key: "実行キー",
    on_conflict: "実行キーが使用中のとき",
    max_attempts: "最大試行回数",
    deadline_seconds: "期限（秒）",
    max_cost_usd: "費用の上限（米ドル）",
  },
});

export const hints = define({
  en: {
    language: "A tag such as en or ja. Left out, that of the input.",
    run_key: "Only one job at a time may be live under it.",
    deadline_seconds: "The job has to end within this time.",
    max_cost_usd: "A decimal, such as 0.25. A job that is expected to cost more is refused.",
  },
  ja: {
    language: "en や ja などの言語タグ。省略すると入力と同じ言語です。",
    run_key: "同じ実行キーで同時に動けるジョブは一つだけです。",
    deadline_seconds: "この時間内に終わらなければなりません。",
    max_cost_usd: "0.25 のような小数。これを超える見込みのジョブは受け付けられません。",
  },
});

/** The values of an enumeration, by the name of the member. */
export const choices = define({
  en: {
    "style:paragraph": "A paragraph",
    "style:bullets": "Bullet points",
    "on_source_failure:fail": "The job fails",
    "on_source_failure:list": "It is listed as missing",
    "on_conflict:reject": "Refuse this job",
    "on_conflict:return": "Show the live job",
  },
  ja: {
    "style:paragraph": "文章",
    "style:bullets": "箇条書き",
    "on_source_failure:fail": "ジョブを失敗にする",
    "on_source_failure:list": "欠落として一覧に載せる",
    "on_conflict:reject": "このジョブを断る",
    "on_conflict:return": "実行中のジョブを表示する",
  },
});

/** What a kind does, and what it takes. */
export const kindHints = define({
  en: {
    summarize: "Shortens one text.",
    transcribe: "Writes down what is said in a recording.",
    embed: "Turns texts into vectors that can be compared.",
    report: "Makes one document of several sources.",
  },
  ja: {
    summarize: "一つの文章を短くまとめます。",
    transcribe: "録音の発言を書き起こします。",
    embed: "文章を比較できるベクトルにします。",
    report: "複数の資料から一つの文書を作ります。",
  },
});

export const fileHints = define({
  en: {
    summarize: "Text in UTF-8, up to 8 MiB.",
    transcribe: "WAV, MP3, M4A, FLAC or OGG, up to 25 MB where nothing else was set.",
    embed: "JSON Lines in UTF-8: one string a line, up to 2,048 of them and 16 MiB.",
    report: "Texts in UTF-8, up to 50 of them and 16 MiB together.",
  },
  ja: {
    summarize: "UTF-8 のテキスト、8 MiB まで。",
    transcribe: "WAV、MP3、M4A、FLAC、OGG。設定を変えていなければ 25 MB まで。",
    embed: "UTF-8 の JSON Lines（1 行に文字列一つ）、2,048 行・16 MiB まで。",
    report: "UTF-8 のテキスト、50 件・合計 16 MiB まで。",
  },
});
