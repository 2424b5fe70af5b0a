/** Opens the database, creates what is missing in it, and keeps changes whole. */
import { DatabaseSync } from 'node:sqlite';

const SCHEMA = `
CREATE TABLE IF NOT EXISTS bakers (
  id INTEGER PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  password TEXT NOT NULL,
  bakery TEXT NOT NULL,
  place TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS sessions (
  token_hash TEXT PRIMARY KEY,
  baker_id INTEGER NOT NULL REFERENCES bakers ON DELETE CASCADE,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS bakes (
  id TEXT PRIMARY KEY,
  baker_id INTEGER NOT NULL REFERENCES bakers ON DELETE CASCADE,
  collection TEXT NOT NULL,
  closes_at INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS breads (
  id INTEGER PRIMARY KEY,
  bake_id TEXT NOT NULL REFERENCES bakes ON DELETE CASCADE,
  name TEXT NOT NULL,
  price_cents INTEGER NOT NULL CHECK (price_cents BETWEEN 0 AND 100000),
  loaves INTEGER NOT NULL CHECK (loaves BETWEEN 1 AND 500),
  UNIQUE (bake_id, name)
) STRICT;
CREATE TABLE IF NOT EXISTS orders (
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  bake_id TEXT NOT NULL REFERENCES bakes ON DELETE CASCADE,
  name TEXT NOT NULL,
  phone TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'placed' CHECK (state IN ('placed', 'collected', 'cancelled'))
) STRICT;
CREATE INDEX IF NOT EXISTS orders_by_bake ON orders (bake_id);
CREATE TABLE IF NOT EXISTS lines (
  order_number INTEGER NOT NULL REFERENCES orders ON DELETE CASCADE,
  bread_id INTEGER NOT NULL REFERENCES breads,
  count INTEGER NOT NULL CHECK (count BETWEEN 1 AND 20),
  PRIMARY KEY (order_number, bread_id)
) STRICT;
CREATE INDEX IF NOT EXISTS lines_by_bread ON lines (bread_id);
`;

export function openDatabase(path) {
  const db = new DatabaseSync(path, { timeout: 2_000 });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; ${SCHEMA}`);
  return db;
}

/** Runs `work` so that all of its changes are kept, or none. */
export function transaction(db, work) {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}
