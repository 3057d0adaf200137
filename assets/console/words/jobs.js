// @ts-check
import { define } from "../words.js";

export const jobs = define({
  en: {
    title: "Jobs",
    job: "Job",
    state: "State",
    kind: "Kind",
    run_key: "Run key",
    created: "Accepted",
    finished: "Ended",
    attempts: "Attempts",
    cost: "Cost",
    none: "No job fits.",
  },
  ja: {
    title: "ジョブ",
    job: "ジョブ",
    state: "状態",
    kind: "種類",
    run_key: "実行キー",
    created: "受付",
    finished: "終了",
    attempts: "試行",
    cost: "費用",
    none: "該当するジョブはありません。",
  },
});
