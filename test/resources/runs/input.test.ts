import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { call, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, listTotal, typesOf } from '../../support/fixtures/runs.ts';

let service: TestService;
let acme: Tenant;
let beta: Tenant;
let foreign: string;
beforeAll(async () => {
  // Without a worker: what is accepted by mistake stays visible as a row, and nothing else moves.
  service = await startTestService({ worker: false });
  acme = await service.tenant('acc_acme');
  beta = await service.tenant('acc_beta');
  await beta.cp('POST', '/v1/agents', { slug: 'secret-agent', model: 'auto', prompt: 'Secret.' });
  foreign = await dispatch(beta, { agent: 'writer', prompt: 'Mine alone', thread_id: 'mine' });
});
afterAll(() => service?.close());

let before: number;
beforeEach(async () => {
  before = await listTotal(acme);
});
// Nothing that is refused leaves a row.
afterEach(async () => expect(await listTotal(acme)).toBe(before));

const NUL = 'a\u0000b';
const LONE = 'a\ud800b';
const ok = { agent: 'writer', prompt: 'Hello' };
const dots = (length: number) => '.'.repeat(length);

/** Bodies and the field that the answer blames. */
const BAD_BODIES: [name: string, body: unknown, field: string[]][] = [
  ['a list', [ok], []],
  ['a text', 'hello', []],
  ['a number', 1, []],
  ['null', null, []],
  ['no prompt', { agent: 'writer' }, ['prompt']],
  ['neither, both null', { prompt: null, message: null }, ['prompt']],
  ['prompt and message', { prompt: 'a', message: 'b' }, ['prompt']],
  ...(['prompt', 'message'] as const).flatMap((field) =>
    (
      [
        ['empty', ''],
        ['blank', ' \n\t '],
        ['a number', 1e308],
        ['a list', ['Hello']],
        ['too long', dots(500_001)],
        ['with NUL', NUL],
        ['with a lone surrogate', LONE],
      ] as const
    ).map(([name, value]): [string, unknown, string[]] => [`${field} ${name}`, { [field]: value }, [field]]),
  ),
  ...(['thread_id', 'channel_id', 'agent'] as const).flatMap((field) =>
    (
      [
        ['empty', ''],
        ['a number', 5],
        ['an object', {}],
        ['too long', dots(201)],
        ['with NUL', NUL],
        ['with a lone surrogate', LONE],
      ] as const
    ).map(([name, value]): [string, unknown, string[]] => [`${field} ${name}`, { ...ok, [field]: value }, [field]]),
  ),
  ['transport unknown', { ...ok, transport: 'pigeon' }, ['transport']],
  ['transport empty', { ...ok, transport: '' }, ['transport']],
  ['transport a number', { ...ok, transport: 2 }, ['transport']],
  ['transport __proto__', { ...ok, transport: '__proto__' }, ['transport']],
  ['customer_id a number', { ...ok, customer_id: 7 }, ['customer_id']],
  ['customer_id with NUL', { ...ok, customer_id: NUL }, ['customer_id']],
  ['override a text', { ...ok, override: 'auto' }, ['override']],
  ['override a list', { ...ok, override: [] }, ['override']],
  ['model_override empty', { ...ok, override: { model_override: '' } }, ['override', 'model_override']],
  ['model_override blank', { ...ok, override: { model_override: '  ' } }, ['override', 'model_override']],
  ['model_override a number', { ...ok, override: { model_override: 4 } }, ['override', 'model_override']],
  ['model_override too long', { ...ok, override: { model_override: dots(201) } }, ['override', 'model_override']],
  ['an unknown override with NUL', { ...ok, override: { note: { deep: [NUL] } } }, ['override', 'note', 'deep', '0']],
  ['an override key with NUL', { ...ok, override: { [NUL]: 1 } }, ['override']],
  ...[
    '',
    ' ',
    '-1',
    '1e3',
    '1,5',
    'NaN',
    'ten',
    '0.123456789',
    dots(10_000),
    '99999999999',
    -1,
    0,
    1e12,
    true,
    [],
    {},
  ].map((amount): [string, unknown, string[]] => [
    `cost_budget_usd ${JSON.stringify(amount).slice(0, 20)}`,
    { ...ok, override: { cost_budget_usd: amount } },
    ['override', 'cost_budget_usd'],
  ]),
];

describe.each([
  ['POST /v1/runs with a key', (body: unknown) => acme.api('POST', '/v1/runs', body)],
  ['POST /v1/runs with a session', (body: unknown) => acme.cp('POST', '/v1/runs', body)],
])('%s', (_, create) => {
  // Guards: every bad field is a 422 that names it, never a 500 and never a run.
  test.each(BAD_BODIES)('refuses %s', async (_, body, field) => {
    const { status, body: answer } = await create(body);
    expect(status).toBe(422);
    expect(answer.detail).toContainEqual({
      loc: ['body', ...field],
      msg: expect.any(String),
      type: expect.any(String),
    });
  });

  // Guards: an unknown agent is a 404 in every form, and another workspace's agent is unknown.
  test.each(['nobody', 'Writer', 'secret-agent', '__proto__', 'constructor', '../writer', ' '])(
    'knows no agent %p',
    async (agent) => {
      expect(await create({ ...ok, agent })).toMatchObject({
        status: 404,
        body: { detail: `unknown agent: ${agent}` },
      });
    },
  );

  // Guards: invalid JSON is a 400, a too large body a 413, and deep nesting neither crashes the process nor makes a
  // row.
  test('refuses what cannot be read', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`);
    expect((await create({ ...ok, override: deep })).status).toBe(422);
    expect((await create({ ...ok, prompt: dots(1_100_000) })).status).toBe(413);
    const url = `${service.baseUrl}/v1/runs`;
    const headers = { authorization: `Bearer ${acme.apiKey}`, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: '{"prompt": "Hello' });
    expect(response.status).toBe(400);
    expect((await call(url, 'POST', { authorization: headers.authorization })).status).toBe(422);
  });
});

// Guards: values at the limits are accepted, an ignored field has no effect, and texts arrive unchanged.
test('takes what is allowed', async () => {
  const prompt = `${'é'.repeat(400_000)} \u2028 "quotes" \\u0000 ' ; drop table runs; -- %s {{x}} 😀`;
  const bodies = [
    { ...ok, prompt },
    { ...ok, thread_id: dots(200), channel_id: dots(200), override: null, customer_id: 'beta' },
    { ...ok, agent: null, prompt: null, message: 'm' },
    { ...ok, override: { model_override: 'auto', cost_budget_usd: '999999999.99999999' } },
    { ...ok, override: { cost_budget_usd: 0.00000001 }, owner_kind: 'ignored' },
    { ...ok, transport: 'whatsapp' },
  ];
  for (const body of bodies) expect((await acme.api('POST', '/v1/runs', body)).status).toBe(201);
  before += bodies.length;
  expect(await listTotal(beta)).toBe(1);
});

describe('queries', () => {
  // Guards: a bad query value is a 422 that names it.
  test.each([
    ...['0', '501', '-1', '1.5', 'ten', '', '1e9', '99999999999999999999', 'NaN'].map((bad) => [
      '/v1/runs',
      'limit',
      bad,
    ]),
    ...['-1', '0.5', 'x', '1e300'].map((bad) => ['/v1/runs', 'offset', bad]),
    ...['0', '721', '-5', 'day', ''].map((bad) => ['/v1/runs', 'since_hours', bad]),
    ['/v1/runs', 'agent', '%00'],
    ['/v1/runs', 'agent', dots(65)],
    ['/v1/runs', 'transport', '%00'],
    ...['bad', '', '7D', '24', '30d%20', '__proto__', 'toString'].map((bad) => ['/v1/runs/costs', 'window', bad]),
    ...['0', '2001', 'x', '-1'].map((bad) => ['/v1/runs/{foreign}/events', 'limit', bad]),
    ...['-1', 'x', '1.5', '1e400'].map((bad) => ['/v1/runs/{foreign}/context/content', 'before_byte', bad]),
  ])('%s?%s=%s is refused', async (path, name, value) => {
    const { status, body } = await beta.cp('GET', `${path.replace('{foreign}', foreign)}?${name}=${value}`);
    expect(status).toBe(422);
    expect(body.detail.length).toBeGreaterThan(0);
    for (const { loc } of body.detail) expect(loc).toEqual(['query', name]);
  });

  test('one value is one value, and a page far behind the last is empty', async () => {
    expect((await acme.cp('GET', '/v1/runs?agent=a&agent=b')).status).toBe(422);
    expect((await acme.cp('GET', '/v1/runs?limit=500&offset=1000000')).status).toBe(200);
  });
});

// Guards: another workspace's run answers exactly as an unknown one, on every endpoint, and nothing happens to it.
test.each([
  ['GET', '', 'api'],
  ['GET', '/detail', 'cp'],
  ['GET', '/events', 'cp'],
  ['GET', '/context', 'cp'],
  ['GET', '/context/content', 'cp'],
  ['POST', '/cancel', 'cp'],
  ['POST', '/retry', 'cp'],
] as const)('%s /v1/runs/{id}%s of a foreign or unknown run', async (method, path, surface) => {
  const unknown = ['01jd0000000000000000000000', foreign.toUpperCase(), 'x', '..%2F..', '%F0%9F%98%80', "'--"];
  for (const id of [foreign, ...unknown]) {
    const { status, body } = await acme[surface](method, `/v1/runs/${id}${path}`);
    expect({ id, status, body }).toEqual({ id, status: 404, body: { detail: 'not_found' } });
  }
  for (const [id, expected] of [
    ['%00', 422],
    [dots(65), 422],
    ['%ED%A0%80', 400],
    ['%', 400],
  ] as const) {
    const { status, body } = await acme[surface](method, `/v1/runs/a${id}${path}`);
    expect({ id, status }).toEqual({ id, status: expected });
    expect(body).toHaveProperty('detail');
  }
  expect(await typesOf(beta, foreign)).toEqual(['run_received']);
});
