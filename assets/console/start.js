// @ts-check
/** Loads the console, and says so where it cannot: an empty page tells nobody what to do. */

const SENTENCES = [
  { lang: "en", text: "The console could not be loaded. Is the network there? Load this page again." },
  { lang: "ja", text: "コンソールを読み込めませんでした。ネットワークを確認し、このページを再読み込みしてください。" },
];

try {
  await import("./app.js");
} catch (error) {
  console.error(error);
  const told = SENTENCES.map(({ lang, text }) =>
    Object.assign(document.createElement("p"), { lang, textContent: text }),
  );
  const main = Object.assign(document.createElement("main"), { className: "alone" });
  main.setAttribute("role", "alert");
  main.append(...told);
  document.getElementById("app")?.replaceChildren(main);
}
export {};
