// @ts-check
import { define } from "../words.js";

export const job = define({
  en: {
    title: "Job",
    progress: "Progress",
    done_of: "{done} of {total}",
    result: "Result",
  },
  ja: {
    title: "ジョブ",
    progress: "進み具合",
    done_of: "{total} 中 {done}",
    result: "結果",
  },
});
