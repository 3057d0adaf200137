// @ts-check
import { define } from "../words.js";

export const signIn = define({
  en: {
    title: "Sign in",
    key: "API key",
    key_hint: "uk_…: a tenant's key shows its jobs with content, an operator's all jobs without.",
    sign_in: "Sign in",
    kept: "The key is kept in this tab alone and forgotten when you close it.",
    refused: "This key is not taken. Check that it is whole, and that it was not revoked.",
    missing: "Paste a key first.",
    ended: "The key that was in use is not taken any more, so you were signed out. Sign in with another.",
  },
  ja: {
    title: "サインイン",
    key: "API キー",
    key_hint: "uk_… テナントのキーでは自分のジョブを内容つきで、運用者のキーでは全ジョブを内容なしで表示します。",
    sign_in: "サインイン",
    kept: "キーはこのタブだけに保存され、閉じると消えます。",
    refused: "このキーは使えません。欠けがないか、無効化されていないかを確認してください。",
    missing: "キーを貼り付けてください。",
    ended: "使用中のキーが無効になったため、サインアウトしました。別のキーでサインインしてください。",
  },
});
