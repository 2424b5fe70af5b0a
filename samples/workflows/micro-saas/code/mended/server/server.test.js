/** At least one test for each endpoint. Each starts with an empty database in memory and a clock of its own. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createApp } from './app.js';
import { openDatabase } from './db.js';
import { forgetNames } from './orders.js';

const HOUR = 3_600_000;
const newKey = () => randomBytes(16).toString('hex');

/** Starts a server. `clock.now` may be moved; `person()` is a browser with cookies of its own. */
async function start(t) {
  const clock = { now: Date.parse('2026-06-09T08:00:00Z') };
  const db = openDatabase(':memory:');
  const server = createServer(createApp({ db, now: () => clock.now })).listen(0, '127.0.0.1');
  await new Promise((ready) => server.once('listening', ready));
  t.after(() => server.close());
  const person = () => {
    let cookie = '';
    return async (method, path, body, headers = { 'content-type': 'application/json' }) => {
      const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, {
        method,
        headers: { cookie, ...(body === undefined ? {} : headers) },
        body: typeof body === 'object' ? JSON.stringify(body) : body,
      });
      cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
      const text = await response.text();
      return { status: response.status, body: text && JSON.parse(text), headers: response.headers };
    };
  };
  return { db, clock, person };
}

const ACCOUNT = { email: 'ida@example.com', password: 'rye and salt', bakery: "Ida's Oven", place: '4 Mill Lane' };
const BREADS = [
  { name: 'Country loaf', price_cents: 900, loaves: 3 },
  { name: 'Rye', price_cents: 850, loaves: 5 },
];
const BAKE = { collection: 'Saturday, June 13, 9 to 11', closes_at: '2026-06-11T18:00:00Z', breads: BREADS };

/** A baker with one bake, and a neighbour who can order `[countryLoaves, rye]` from it. */
async function startBake(t) {
  const all = await start(t);
  const baker = all.person();
  await baker('POST', '/api/bakers', ACCOUNT);
  const { id } = (await baker('POST', '/api/bakes', BAKE)).body;
  const neighbour = all.person();
  const { breads } = (await neighbour('GET', `/api/menus/${id}`)).body;
  const body = (name, counts) => ({
    bake_id: id,
    name,
    phone: '',
    lines: breads.map((bread, at) => ({ bread_id: bread.id, count: counts[at] })).filter(({ count }) => count),
  });
  const order = (name, counts, key = newKey()) => neighbour('PUT', `/api/orders/${key}`, body(name, counts));
  const left = async () => (await neighbour('GET', `/api/menus/${id}`)).body.breads.map((bread) => bread.left);
  return { ...all, baker, neighbour, id, body, order, left };
}

test('POST /api/bakers opens one account for an address', async (t) => {
  const { person } = await start(t);
  assert.equal((await person()('POST', '/api/bakers', { ...ACCOUNT, password: 'short' })).body.field, 'password');
  assert.equal((await person()('POST', '/api/bakers', ACCOUNT)).status, 201);
  assert.equal((await person()('POST', '/api/bakers', { ...ACCOUNT, email: 'IDA@example.com' })).status, 409);
});

test('POST and DELETE /api/sessions sign in and out, and stop guessing', async (t) => {
  const { person, clock } = await start(t);
  await person()('POST', '/api/bakers', ACCOUNT);
  const baker = person();
  const signIn = (password) => baker('POST', '/api/sessions', { email: ACCOUNT.email, password });
  assert.equal((await signIn(ACCOUNT.password)).status, 200);
  assert.equal((await baker('GET', '/api/bakes')).status, 200);
  assert.equal((await baker('DELETE', '/api/sessions')).status, 204);
  assert.equal((await baker('GET', '/api/bakes')).status, 401);
  for (let n = 0; n < 10; n += 1) assert.equal((await signIn('a wrong guess')).status, 401);
  assert.equal((await signIn(ACCOUNT.password)).status, 429);
  clock.now += HOUR;
  assert.equal((await signIn(ACCOUNT.password)).status, 200);
});

test('POST and GET /api/bakes open a bake and list it', async (t) => {
  const { person } = await start(t);
  const baker = person();
  await baker('POST', '/api/bakers', ACCOUNT);
  assert.deepEqual((await baker('GET', '/api/bakes')).body.bakes, []);
  const refused = { closes_at: '2026-06-01T18:00:00Z', collection: ' ', breads: [BREADS[0], BREADS[0]] };
  for (const [field, value] of Object.entries(refused))
    assert.equal((await baker('POST', '/api/bakes', { ...BAKE, [field]: value })).body.field, field);
  const { id } = (await baker('POST', '/api/bakes', BAKE)).body;
  const { collection } = BAKE;
  const closes_at = '2026-06-11T18:00:00.000Z';
  const listed = { id, collection, closes_at, is_open: true, loaves: 8, left: 8 };
  assert.deepEqual((await baker('GET', '/api/bakes')).body.bakes, [listed]);
});

test('GET /api/bakes/:id shows totals and orders to its baker only', async (t) => {
  const { baker, person, order, id } = await startBake(t);
  await order('Noor', [1, 2]);
  const { body } = await baker('GET', `/api/bakes/${id}`);
  assert.deepEqual(body.breads.map(({ loaves, left }) => loaves - left), [1, 2]);
  assert.deepEqual(body.orders.map(({ name, total_cents }) => [name, total_cents]), [['Noor', 2600]]);
  const other = person();
  await other('POST', '/api/bakers', { ...ACCOUNT, email: 'sol@example.com' });
  assert.equal((await other('GET', `/api/bakes/${id}`)).status, 404);
  assert.equal((await other('PATCH', `/api/bakes/${id}`, { is_open: false })).status, 404);
  assert.equal((await other('PATCH', `/api/bakes/${id}/orders/1`, { state: 'collected' })).status, 404);
  assert.equal((await person()('GET', `/api/bakes/${id}`)).status, 401);
});

test('PATCH /api/bakes/:id closes a bake at once', async (t) => {
  const { baker, order, id } = await startBake(t);
  assert.equal((await baker('PATCH', `/api/bakes/${id}`, { is_open: true })).status, 400);
  assert.equal((await baker('PATCH', `/api/bakes/${id}`, { is_open: false })).body.is_open, false);
  assert.equal((await order('Noor', [1, 0])).body.error, 'closed');
});

test('PATCH /api/bakes/:id/orders/:number collects, takes back and cancels', async (t) => {
  const { baker, order, left, id } = await startBake(t);
  await order('Noor', [2, 0]);
  const change = async (state) => (await baker('PATCH', `/api/bakes/${id}/orders/1`, { state })).status;
  assert.equal(await change('eaten'), 400);
  assert.equal(await change('collected'), 200);
  assert.equal(await change('placed'), 200);
  assert.deepEqual(await left(), [1, 5]);
  assert.equal(await change('cancelled'), 200);
  assert.deepEqual(await left(), [3, 5]);
  assert.equal(await change('placed'), 404);
});

test('GET /api/menus/:id tells what is left and no names', async (t) => {
  const { neighbour, order, id } = await startBake(t);
  await order('Noor', [1, 0]);
  const { body } = await neighbour('GET', `/api/menus/${id}`);
  assert.deepEqual(body.breads.map(({ left }) => left), [2, 5]);
  assert.ok(!JSON.stringify(body).includes('Noor'));
  assert.equal((await neighbour('GET', '/api/menus/0000000000')).status, 404);
});

test('PUT /api/orders/:key never sells more than there is', async (t) => {
  const { neighbour, order, left, body } = await startBake(t);
  const [first, second] = await Promise.all([order('Noor', [2, 0]), order('Ben', [2, 1])]);
  assert.deepEqual([first.status, second.status].sort(), [201, 409]);
  assert.equal((await left())[0], 1);
  const twice = body('Ben', [1, 0]);
  twice.lines.push(twice.lines[0]);
  assert.equal((await neighbour('PUT', `/api/orders/${newKey()}`, twice)).status, 400);
});

test('PUT /api/orders/:key keeps an order once that is sent twice, be it the last loaves or after closing', async (t) => {
  const { order, left, clock } = await startBake(t);
  const key = newKey();
  assert.equal((await order('Noor', [3, 1], key)).status, 201);
  assert.equal((await order('Noor', [3, 1], key)).status, 200);
  assert.equal((await order('Ben', [1, 0])).body.error, 'sold_out');
  clock.now = Date.parse(BAKE.closes_at);
  assert.equal((await order('Noor', [3, 1], key)).status, 200);
  assert.deepEqual(await left(), [0, 4]);
});

test('GET and DELETE /api/orders/:key show and cancel it until the bake closes', async (t) => {
  const { neighbour, order, left, clock } = await startBake(t);
  const [early, late] = [newKey(), newKey()];
  await order('Noor', [2, 0], early);
  await order('Ben', [0, 1], late);
  assert.equal((await neighbour('GET', `/api/orders/${early}`)).body.total_cents, 1800);
  assert.equal((await neighbour('DELETE', `/api/orders/${early}`)).body.state, 'cancelled');
  assert.deepEqual(await left(), [3, 4]);
  clock.now = Date.parse(BAKE.closes_at);
  assert.equal((await neighbour('DELETE', `/api/orders/${late}`)).body.error, 'closed');
  assert.equal((await neighbour('GET', `/api/orders/${newKey()}`)).status, 404);
});

test('names are forgotten 30 days after closing, and the totals stay', async (t) => {
  const { db, baker, order, id } = await startBake(t);
  await order('Noor', [1, 0]);
  forgetNames(db, Date.parse(BAKE.closes_at) + 29 * 24 * HOUR);
  assert.equal((await baker('GET', `/api/bakes/${id}`)).body.orders[0].name, 'Noor');
  forgetNames(db, Date.parse(BAKE.closes_at) + 30 * 24 * HOUR);
  const [forgotten] = (await baker('GET', `/api/bakes/${id}`)).body.orders;
  assert.deepEqual([forgotten.name, forgotten.total_cents], ['', 900]);
});

test('what is no request of ours is refused', async (t) => {
  const send = (await start(t)).person();
  const statusOf = async (...request) => (await send('POST', '/api/bakers', ...request)).status;
  assert.equal(await statusOf('{', { 'content-type': 'application/json' }), 400);
  assert.equal(await statusOf('[]', { 'content-type': 'application/json' }), 400);
  assert.equal(await statusOf('email=a', { 'content-type': 'application/x-www-form-urlencoded' }), 415);
  assert.equal(await statusOf({ email: 'x'.repeat(20_000) }), 413);
  assert.equal((await send('GET', '/api/nothing')).status, 404);
  assert.equal((await send('PUT', '/api/bakers', {})).status, 405);
});
