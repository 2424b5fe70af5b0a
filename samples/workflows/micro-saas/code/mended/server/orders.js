/** Orders: placing, showing and cancelling one by its key, collecting it, and forgetting whose it was. */
import { breadsOf, findBake, linesOf, requireOwnBake, showBake, totalOf } from './bakes.js';
import { distinct, list, Problem, text, whole } from './checks.js';
import { transaction } from './db.js';

const REMEMBERED_MS = 30 * 86_400_000;

/** @returns what the holder of the key may see, or nothing when no order has it */
function findOrder({ db, now }, key) {
  const order = db.prepare('SELECT number, bake_id, name, state FROM orders WHERE key = ?').get(key);
  if (!order) return undefined;
  const { number, bake_id, name, state } = order;
  const lines = linesOf(db, number);
  return { key, name, state, lines, total_cents: totalOf(lines), bake: findBake(db, bake_id, now) };
}

function readOrder(body) {
  const bakeId = text(body, 'bake_id', { max: 20, what: 'the bake' });
  const name = text(body, 'name', { max: 60, what: 'your name, at most 60 characters' });
  const phone = text(body, 'phone', { min: 0, max: 30, pattern: /^[+0-9 ()./-]+$/, what: 'a phone number, or none' });
  const lines = list(body, 'lines', { max: 8, what: 'breads' }).map((line) => ({
    breadId: whole(line, 'bread_id', { min: 1, max: Number.MAX_SAFE_INTEGER, what: 'the bread' }),
    count: whole(line, 'count', { min: 1, max: 20, what: 'how many loaves' }),
  }));
  distinct(lines.map(({ breadId }) => breadId), 'lines', 'Name each bread once.');
  return { bakeId, name, phone, lines };
}

export function placeOrder(context) {
  const { db, params, body, now } = context;
  const { bakeId, name, phone, lines } = readOrder(body);
  return transaction(db, () => {
    // The answer to a first try may have been lost. Its order stands, whatever is left by now.
    const sentBefore = findOrder(context, params.key);
    if (sentBefore) return { body: sentBefore };
    const bake = findBake(db, bakeId, now);
    if (!bake.is_open) throw new Problem(409, 'closed', 'Orders for this bake are closed.');
    const breads = breadsOf(db, bake.id);
    for (const { breadId, count } of lines) {
      const bread = breads.find(({ id }) => id === breadId);
      if (!bread)
        throw new Problem(400, 'invalid', 'A bread is not in this bake. Reload the page.', { field: 'lines' });
      if (count > bread.left)
        throw new Problem(409, 'sold_out', `${bread.name}: ${bread.left || 'none'} left. Nothing was ordered yet.`);
    }
    const { lastInsertRowid: number } = db
      .prepare('INSERT INTO orders (key, bake_id, name, phone) VALUES (?, ?, ?, ?)')
      .run(params.key, bake.id, name, phone);
    const insert = db.prepare('INSERT INTO lines VALUES (?, ?, ?)');
    for (const { breadId, count } of lines) insert.run(number, breadId, count);
    return { status: 201, body: findOrder(context, params.key) };
  });
}

function requireOrder(context) {
  const order = findOrder(context, context.params.key);
  if (!order) throw new Problem(404, 'not_found', 'This order is not here. Check the link.');
  return order;
}

export const showOrder = (context) => ({ body: requireOrder(context) });

export function cancelOrder(context) {
  const { key, state, bake } = requireOrder(context);
  if (state === 'collected') throw new Problem(409, 'collected', 'This order has been collected.');
  if (state === 'placed' && !bake.is_open)
    throw new Problem(409, 'closed', `The dough is on its way. Please tell ${bake.bakery} yourself.`);
  context.db.prepare("UPDATE orders SET state = 'cancelled' WHERE key = ?").run(key);
  return { body: requireOrder(context) };
}

/** What is cancelled stays cancelled, because its loaves may be sold again. */
export function changeOrder(context) {
  const { db, params, body } = context;
  const bake = requireOwnBake(context);
  if (!['placed', 'collected', 'cancelled'].includes(body.state))
    throw new Problem(400, 'invalid', 'Say placed, collected or cancelled.', { field: 'state' });
  const { changes } = db
    .prepare("UPDATE orders SET state = ? WHERE number = ? AND bake_id = ? AND state <> 'cancelled'")
    .run(body.state, params.number, bake.id);
  if (changes === 0) throw new Problem(404, 'not_found', 'This order is not in the bake any more.');
  return showBake(context);
}

/** Thirty days after a bake has closed nobody needs to know who ate it. */
export function forgetNames(db, now) {
  db.prepare(
    "UPDATE orders SET name = '', phone = '' WHERE bake_id IN (SELECT id FROM bakes WHERE closes_at <= ?)",
  ).run(now - REMEMBERED_MS);
}
