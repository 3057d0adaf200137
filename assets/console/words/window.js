// @ts-check
import { define } from "../words.js";

/** A stretch of time to choose. */
export const stretch = define({
  en: { from: "From", to: "To, not included", hour: "Last hour", day: "Last day", week: "Last week" },
  ja: { from: "開始", to: "終了（含まない）", hour: "直近1時間", day: "直近1日", week: "直近1週間" },
});
