// @ts-check
import { define } from "../words.js";

export const audit = define({
  en: {
    title: "Audit",
    hint: "What operators have done, newest first. Nothing of it can be changed or deleted.",
    action: "Act",
    target: "Target",
    target_hint: "dl_… or rd_…",
    actor: "Key",
    all_of_actor: "All that was done with this key",
    detail: "Details",
    request: "Request",
    none: "Nothing that fits was done.",
  },
  ja: {
    title: "監査記録",
    hint: "運用者が行った操作の記録です。新しい順に並び、変更も削除もできません。",
    action: "操作",
    target: "対象",
    target_hint: "dl_… または rd_…",
    actor: "キー",
    all_of_actor: "このキーによるすべての操作",
    detail: "詳細",
    request: "リクエスト",
    none: "該当する操作はありません。",
  },
});
