/** `Idempotency-Key`: a request that comes again is answered again and done once, through either gateway. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt } from '../../../src/platform/core/present.ts';
import { byId, endpoints } from '../../support/http/endpoints.ts';
import { call, GATEWAYS, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const RUN = { agent: 'assistant', prompt: 'Say something.' };
const PROJECT = { workflow_slug: 'blog-post', title: 'Another', brief: 'Say something.' };

const REPEATABLE = [
  'billing.topup',
  'inbox.answer',
  'projects.create',
  'projects.resolveEditPlan',
  'projects.resolveGate',
  'projects.start',
  'runs.create',
  'runs.dispatch',
];

/** Every surface that makes something, with what it is asked for and another thing. */
const MAKING = [
  ['runs.dispatch', 'api', '/v1/runs', RUN, { ...RUN, prompt: 'Say more.' }],
  ['runs.create', 'cp', '/v1/runs', RUN, { ...RUN, prompt: 'Say more.' }],
  ['projects.start', 'api', '/v1/projects', PROJECT, { ...PROJECT, brief: 'Say more.' }],
  ['projects.create', 'cp', '/v1/projects', PROJECT, { ...PROJECT, brief: 'Say more.' }],
] as const;

const askerOf =
  (service: TestService) => (who: Tenant, surface: 'api' | 'cp', path: string, body: unknown, key?: string) => {
    const [prefix, credential] =
      surface === 'api'
        ? ['', { authorization: `Bearer ${who.apiKey}` }]
        : ['/api/v1/cp', { cookie: `service_session=${who.session}` }];
    const headers = { ...(credential as Record<string, string>), ...(key !== undefined && { 'idempotency-key': key }) };
    return call(service.baseUrl + prefix + path, 'POST', headers, body);
  };

// Guards: endpoints take keys by their declaration, and each of them can give its answer again.
test('these endpoints take a key', () => {
  const declared = endpoints.filter(({ idempotent }) => idempotent);
  expect(
    byId(declared)
      .map(([id]) => id)
      .sort(),
  ).toEqual(REPEATABLE);
  for (const { method, reply } of declared) expect([method, typeof reply]).toEqual(['post', 'object']);
});

describe.each(GATEWAYS)('%s', (_name, options) => {
  let service: TestService;
  let ask: ReturnType<typeof askerOf>;
  let tenant: Tenant;
  let other: Tenant;
  beforeAll(async () => {
    service = await startTestService({ ...options, worker: false, env: { EXTENSIONS: 'idempotency' } });
    ask = askerOf(service);
    tenant = await service.tenant('acc_repeats', 'scale');
    other = await service.tenant('acc_other', 'scale');
  });
  afterAll(() => service.close());

  describe.each(MAKING)('%s', (endpoint, surface, path, body, another) => {
    const count = async ({ caller }: Tenant): Promise<number> => {
      const table = sql.identifier(path.slice('/v1/'.length));
      const row = itemAt(
        await service.runtime.db.rows<{ n: number }>(
          sql`select count(*)::int as n from ${table} where customer_id = ${caller.customerId}`,
        ),
        0,
      );
      return row.n;
    };

    // Guards: a caller that missed the first answer gets it again, and nothing is made twice.
    test('gives the first answer again', async () => {
      const before = await count(tenant);
      const first = await ask(tenant, surface, path, body, `again-${endpoint}`);
      const second = await ask(tenant, surface, path, body, `again-${endpoint}`);
      expect(first.status).toBe(201);
      expect(first.headers.get('idempotency-replayed')).toBeNull();
      expect({ status: second.status, body: second.body }).toEqual({ status: 201, body: first.body });
      expect(second.headers.get('idempotency-replayed')).toBe('true');
      expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(await count(tenant)).toBe(before + 1);
    });

    // Guards: of many simultaneous requests one does the work; the others wait and get its result.
    test('is done once of ten at once', async () => {
      const before = await count(tenant);
      const all = await Promise.all(
        Array.from({ length: 10 }, () => ask(tenant, surface, path, body, `at-once-${endpoint}`)),
      );
      expect(new Set(all.map((answer) => JSON.stringify([answer.status, answer.body]))).size).toBe(1);
      expect(itemAt(all, 0).status).toBe(201);
      expect(all.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
      expect(await count(tenant)).toBe(before + 1);
    });

    // Guards: using one key for two different requests is refused as the caller's mistake.
    test('refuses the key for another body', async () => {
      await ask(tenant, surface, path, body, `body-${endpoint}`);
      const before = await count(tenant);
      const refused = await ask(tenant, surface, path, another, `body-${endpoint}`);
      expect(refused).toMatchObject({ status: 409, body: { detail: 'idempotency_key_reused' } });
      expect(refused.headers.get('x-service-problem')).toBe('idempotency_key_reused');
      expect(await count(tenant)).toBe(before);
    });

    // Guards: keys of one workspace say nothing of another's.
    test('is done again for another workspace', async () => {
      const own = await ask(tenant, surface, path, body, `whose-${endpoint}`);
      const foreign = await ask(other, surface, path, body, `whose-${endpoint}`);
      expect(foreign.status).toBe(201);
      expect(foreign.headers.get('idempotency-replayed')).toBeNull();
      expect(JSON.stringify(foreign.body)).not.toBe(JSON.stringify(own.body));
    });

    test('without a key is done each time', async () => {
      const before = await count(tenant);
      for (let i = 0; i < 2; i++) await ask(tenant, surface, path, body);
      expect(await count(tenant)).toBe(before + 2);
    });
  });

  // Guards: the same key at two endpoints is two requests.
  test('a key counts for its endpoint', async () => {
    const run = await ask(tenant, 'api', '/v1/runs', RUN, 'one-key');
    const same = await ask(tenant, 'cp', '/v1/runs', RUN, 'one-key');
    expect([run.status, same.status]).toEqual([201, 201]);
    expect(same.body.run_id).not.toBe(run.body.run_id);
  });

  // Guards: a refused request made nothing, so the same request is tried anew.
  test('what failed before anything was made runs again', async () => {
    const body = { agent: 'not-yet', prompt: 'Say something.' };
    expect((await ask(tenant, 'api', '/v1/runs', body, 'refused')).status).toBe(404);
    await tenant.cp('POST', '/v1/agents', {
      slug: 'not-yet',
      model: 'auto',
      prompt: 'Answer.',
      description: 'Answers',
    });
    const made = await ask(tenant, 'api', '/v1/runs', body, 'refused');
    expect(made.status).toBe(201);
    expect(made.headers.get('idempotency-replayed')).toBeNull();
  });

  // Guards: a bad key is refused before anything is done, with the reason.
  test.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['not of ASCII', 'k\u00e9y'],
  ])('a key that is %s is refused', async (_kind, key) => {
    const refused = await ask(tenant, 'cp', '/v1/runs', RUN, key);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'Idempotency-Key'] }] } });
  });

  test('the longest key counts', async () => {
    const key = 'k'.repeat(255);
    const [first, second] = [
      await ask(tenant, 'cp', '/v1/runs', RUN, key),
      await ask(tenant, 'cp', '/v1/runs', RUN, key),
    ];
    expect(second.body).toEqual(first.body);
  });

  test('callers are told that there are keys', async () => {
    const { headers } = await fetch(`${service.baseUrl}/healthz`);
    expect(headers.get('x-service-extensions')).toBe('idempotency');
  });
});

// Guards: without the extension the header has no effect, and no row is written.
test('without the extension a key counts for nothing', async () => {
  const service = await startTestService({ worker: false });
  try {
    const tenant = await service.tenant('acc_plain');
    const ask = askerOf(service);
    const ids = [];
    for (const key of ['one', 'one', '', 'k'.repeat(300)]) {
      const { status, headers, body } = await ask(tenant, 'api', '/v1/runs', RUN, key);
      expect([status, headers.get('x-service-extensions')]).toEqual([201, null]);
      ids.push(body.run_id);
    }
    expect(new Set(ids).size).toBe(4);
    expect(await service.runtime.db.rows(sql`select 1 from idempotency_keys`)).toEqual([]);
  } finally {
    await service.close();
  }
});
