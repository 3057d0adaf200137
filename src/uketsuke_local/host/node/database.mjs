/** Migrations, applied to the D1 database `DB` before anything is ready. */
import fs from "node:fs";
import path from "node:path";
import { unstable_splitSqlQuery as splitSql } from "wrangler";
import { runBatch } from "./door.mjs";

// The table that `wrangler d1 migrations apply` keeps, so that either tool sees the other's work.
const TABLE = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Apply each file of the folder once, in the order of the names; each is one batch with its record. */
export async function migrate(miniflare, folder) {
  if (!folder || !fs.existsSync(folder)) return [];
  const [, { results }] = await runBatch(miniflare, [
    { sql: TABLE },
    { sql: "SELECT name FROM d1_migrations" },
  ]);
  const done = new Set(results.map(({ name }) => name));
  const names = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(".sql") && !done.has(name));
  for (const name of names.sort()) await apply(miniflare, folder, name);
  return names;
}

async function apply(miniflare, folder, name) {
  const statements = splitSql(fs.readFileSync(path.join(folder, name), "utf8"));
  const record = {
    sql: "INSERT INTO d1_migrations (name) VALUES (?1)",
    params: [name],
  };
  try {
    await runBatch(miniflare, [...statements.map((sql) => ({ sql })), record]);
  } catch (error) {
    throw new Error(`migration ${name}: ${error.message}`);
  }
}
