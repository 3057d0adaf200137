/** Migrations and seeds, applied to the D1 binding `DB` before anything is ready. */
import fs from "node:fs";
import path from "node:path";
import { unstable_splitSqlQuery as splitSql } from "wrangler";

// The table that `wrangler d1 migrations apply` keeps, so that either tool sees the other's work.
const TABLE = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Apply each file of the folder once, in the order of the names; each is one batch with its record. */
export async function migrate(db, folder) {
  if (!folder || !fs.existsSync(folder)) return [];
  await db.prepare(TABLE).run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all();
  const done = new Set(results.map(({ name }) => name));
  const names = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(".sql") && !done.has(name));
  for (const name of names.sort()) await apply(db, folder, name);
  return names;
}

async function apply(db, folder, name) {
  const statements = splitSql(fs.readFileSync(path.join(folder, name), "utf8"));
  const record = db
    .prepare("INSERT INTO d1_migrations (name) VALUES (?1)")
    .bind(name);
  try {
    await db.batch([...statements.map((sql) => db.prepare(sql)), record]);
  } catch (error) {
    throw new Error(`migration ${name}: ${error.message}`);
  }
}

/** @param {{sql: string, params?: unknown[]}[]} statements run as one batch */
export async function runBatch(db, statements) {
  if (statements.length === 0) return [];
  return db.batch(
    statements.map(({ sql, params }) =>
      db.prepare(sql).bind(...(params ?? [])),
    ),
  );
}
