/** Bakes: opening, listing and closing one, what neighbours see of it, and its day. */
import { randomBytes } from 'node:crypto';
import { requireBaker } from './accounts.js';
import { distinct, instant, list, Problem, text, whole } from './checks.js';
import { transaction } from './db.js';

const NOT_HERE = 'This bake is not here. Check the link.';

export const breadsOf = (db, bakeId) =>
  db
    .prepare(
      `SELECT breads.id, breads.name, price_cents, loaves, loaves - coalesce(sum(count), 0) AS left_over
       FROM breads LEFT JOIN (
         SELECT bread_id, count FROM lines JOIN orders ON number = order_number WHERE state <> 'cancelled'
       ) ON bread_id = breads.id
       WHERE bake_id = ? GROUP BY breads.id ORDER BY breads.id`,
    )
    .all(bakeId)
    .map(({ left_over, ...bread }) => ({ ...bread, left: left_over }));

export const linesOf = (db, orderNumber) =>
  db
    .prepare(
      `SELECT bread_id, name, count, count * price_cents AS cents FROM lines JOIN breads ON id = bread_id
       WHERE order_number = ? ORDER BY bread_id`,
    )
    .all(orderNumber);

export const totalOf = (lines) => lines.reduce((sum, { cents }) => sum + cents, 0);

/** @returns what anybody may know of a bake. @throws Problem when there is none */
export function findBake(db, id, now) {
  const bake = db
    .prepare('SELECT bakes.*, bakery, place FROM bakes JOIN bakers ON bakers.id = baker_id WHERE bakes.id = ?')
    .get(id);
  if (!bake) throw new Problem(404, 'not_found', NOT_HERE);
  const { baker_id, closes_at, ...open } = bake;
  return { ...open, closes_at: new Date(closes_at).toISOString(), is_open: closes_at > now() };
}

/** Another baker's bake is answered like one that does not exist. */
export function requireOwnBake(context) {
  const { db, params, now } = context;
  const baker = requireBaker(context);
  const own = db.prepare('SELECT id FROM bakes WHERE id = ? AND baker_id = ?').get(params.id, baker.id);
  if (!own) throw new Problem(404, 'not_found', NOT_HERE);
  return findBake(db, own.id, now);
}

export function listBakes(context) {
  const { db, now } = context;
  const { id, bakery, place } = requireBaker(context);
  const bakes = db.prepare('SELECT id FROM bakes WHERE baker_id = ? ORDER BY closes_at DESC LIMIT 100').all(id);
  const summary = (bake) => {
    const breads = breadsOf(db, bake.id);
    const loaves = breads.reduce((sum, bread) => sum + bread.loaves, 0);
    const { collection, closes_at, is_open } = findBake(db, bake.id, now);
    return { ...bake, collection, closes_at, is_open, loaves, left: breads.reduce((sum, { left }) => sum + left, 0) };
  };
  return { body: { bakery, place, bakes: bakes.map(summary) } };
}

export function openBake(context) {
  const { db, body, now } = context;
  const baker = requireBaker(context);
  const collection = text(body, 'collection', { max: 80, what: 'day and hours of collection, at most 80 characters' });
  const closesAt = instant(body, 'closes_at', now());
  const breads = list(body, 'breads', { max: 8, what: 'breads' }).map((bread) => [
    text(bread, 'name', { max: 40, what: 'each bread a name of at most 40 characters' }),
    whole(bread, 'price_cents', { min: 0, max: 100_000, what: 'the price in cents' }),
    whole(bread, 'loaves', { min: 1, max: 500, what: 'the number of loaves' }),
  ]);
  distinct(breads.map(([name]) => name), 'breads', 'Give each bread a name of its own.');
  const id = randomBytes(5).toString('hex');
  transaction(db, () => {
    db.prepare('INSERT INTO bakes VALUES (?, ?, ?, ?)').run(id, baker.id, collection, closesAt);
    const insert = db.prepare('INSERT INTO breads (bake_id, name, price_cents, loaves) VALUES (?, ?, ?, ?)');
    for (const bread of breads) insert.run(id, ...bread);
  });
  return { status: 201, body: { id } };
}

export function showBake(context) {
  const { db } = context;
  const bake = requireOwnBake(context);
  const orders = db
    .prepare("SELECT number, name, phone, state FROM orders WHERE bake_id = ? AND state <> 'cancelled' ORDER BY number")
    .all(bake.id)
    .map((order) => ({ ...order, lines: linesOf(db, order.number) }))
    .map((order) => ({ ...order, total_cents: totalOf(order.lines) }));
  return { body: { ...bake, breads: breadsOf(db, bake.id), orders } };
}

/** Closing cannot be taken back: the baker is about to mix the dough. */
export function closeBake(context) {
  const { db, body, now } = context;
  const bake = requireOwnBake(context);
  if (body.is_open !== false) throw new Problem(400, 'invalid', 'A bake can only be closed.', { field: 'is_open' });
  if (bake.is_open) db.prepare('UPDATE bakes SET closes_at = ? WHERE id = ?').run(now(), bake.id);
  return showBake(context);
}

export function showMenu({ db, params, now }) {
  const bake = findBake(db, params.id, now);
  const breads = breadsOf(db, bake.id).map(({ loaves, ...bread }) => bread);
  return { body: { ...bake, breads } };
}
