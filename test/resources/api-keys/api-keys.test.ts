/** API keys over HTTP and on a real database: what a session can do with them, and what a key then opens. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eq } from 'drizzle-orm';
import express from 'express';
import type { Server } from 'node:http';
import request from 'supertest';
import { itemAt } from '../../../src/platform/core/present.ts';
import { NO_STANDING } from '../../../src/platform/core/rights.ts';
import { sha256 } from '../../../src/platform/core/crypto.ts';
import { newApiKey } from '../../../src/platform/core/ids.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createSurface, errorHandler, notFound } from '../../../src/platform/http/app.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { prefixOf } from '../../../src/resources/api-keys/model.ts';
import { apiKeyRoutes } from '../../../src/resources/api-keys/routes.ts';
import { createApiKeyService, type ApiKeyService } from '../../../src/resources/api-keys/service.ts';
import { createApiKeyStore, type ApiKeyStore } from '../../../src/resources/api-keys/store.ts';
import { apiKeys } from '../../../src/resources/api-keys/table.ts';
import { createWorkspaceStore } from '../../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';
import { workspaces } from '../../../src/resources/workspaces/table.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

interface KeyBody {
  id: number;
  name: string;
  key: string;
  key_prefix: string;
  revoked_at: string | null;
  last_used_at: string | null;
}

let database: TestDatabase;
let store: ApiKeyStore;
let service: ApiKeyService;
let server: Server;
const callers = new Map<string, Caller>();
const NOW = new Date('2026-03-01T10:00:42Z');

beforeAll(async () => {
  database = await openTestDatabase();
  for (const [id, plan] of [
    ['acc_acme', 'pro_hosted'],
    ['acc_other', 'pro_hosted'],
    ['acc_small', 'free'],
    ['acc_gone', 'pro_hosted'],
  ] as const) {
    const caller = await makeWorkspace(database.db, id, plan);
    callers.set(caller.customerId, caller);
  }
  await database.db.orm
    .update(workspaces)
    .set({ status: 'archived', archivedAt: new Date() })
    .where(eq(workspaces.customerId, 'gone'));

  store = createApiKeyStore(database.db);
  service = createApiKeyService({ store, workspaces: createWorkspaceStore(database.db, TENANT_DATA), now: () => NOW });
  const app = express();
  app.use(
    createSurface({
      routes: apiKeyRoutes({ apiKeys: service }),
      authenticate: async (_credential, { headers }) => {
        const caller = callers.get(String(headers['x-test-workspace']));
        if (!caller) throw new Problem('auth_required');
        return caller;
      },
    }),
    notFound,
    errorHandler(createLog({ level: 'silent', pretty: false })),
  );
  server = app.listen(0, '127.0.0.1');
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await database.close();
});

const post = (workspace: string, body: unknown) =>
  request(server)
    .post('/v1/api-keys')
    .set('x-test-workspace', workspace)
    .send(body as object);
const list = (workspace: string) => request(server).get('/v1/api-keys').set('x-test-workspace', workspace);
const remove = (workspace: string, id: string | number) =>
  request(server).delete(`/v1/api-keys/${id}`).set('x-test-workspace', workspace);
const make = async (workspace: string, name = 'a key') => (await post(workspace, { name }).expect(201)).body as KeyBody;
const rowOf = async (id: number) => {
  const row = itemAt(await database.db.orm.select().from(apiKeys).where(eq(apiKeys.id, id)), 0);
  return row;
};

describe('create', () => {
  // Guards: the secret is shown once, is recognisable, and is stored only as a hash.
  test('shows the secret once and keeps its hash', async () => {
    const { body } = await post('acme', { name: '  build server ', scopes: ['read'], customer_id: 'other' }).expect(
      201,
    );
    expect(Object.keys(body).sort()).toEqual(['created_at', 'customer_id', 'id', 'key', 'key_prefix', 'name']);
    expect(body).toMatchObject({ customer_id: 'acme', name: 'build server' });
    expect(body.key).toMatch(/^svc_pk_[\w-]{43}$/);
    expect(body.key_prefix).toBe(body.key.slice(0, 12));

    const secretPart = body.key.slice(12);
    expect(JSON.stringify(await rowOf(body.id))).not.toContain(secretPart);
    expect((await list('acme').expect(200)).text).not.toContain(secretPart);
  });

  // Guards: the messages that clients match on, for each way in which a body can be wrong.
  test.each([
    ['no body', undefined, 'name required'],
    ['no name', {}, 'name required'],
    ['a null name', { name: null }, 'name required'],
    ['a name that is no text', { name: 7 }, 'name required'],
    ['a blank name', { name: ' \t ' }, 'name required'],
    ['a list', [], 'name required'],
    ['121 characters', { name: 'x'.repeat(121) }, 'name too long (max 120)'],
    ['half a megabyte', { name: 'x'.repeat(500_000) }, 'name too long (max 120)'],
  ])('refuses %s', async (_case, body, detail) => {
    const response = await post('acme', body);
    expect([response.status, response.body]).toEqual([400, { detail }]);
  });

  // Guards: text that Postgres cannot store is the caller's mistake, never a 500.
  test.each(['a\u0000b', 'a\ud800b'])('refuses the unstorable name %j', async (name) => {
    await request(server)
      .post('/v1/api-keys')
      .set('x-test-workspace', 'acme')
      .set('content-type', 'application/json')
      .send(JSON.stringify({ name }))
      .expect(400);
  });

  test('takes a name of 120 characters', async () => {
    await post('acme', { name: 'x'.repeat(120) }).expect(201);
  });

  test('needs a session', async () => {
    await request(server).post('/v1/api-keys').send({ name: 'x' }).expect(401, { detail: 'auth_required' });
    await request(server).get('/v1/api-keys').expect(401);
    await request(server).delete('/v1/api-keys/1').expect(401);
  });

  test('is closed to an archived workspace', async () => {
    await post('gone', { name: 'x' }).expect(403, { detail: 'workspace_archived' });
  });

  // Guards: parallel creates never exceed the cap, and a revoked key makes room again.
  test('holds the cap of the plan under parallel creates', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post('small', { name: `key ${n}` })));
    const created = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 403);
    expect([created.length, refused.length]).toEqual([2, 18]);
    expect(itemAt(refused, 0).body).toEqual({
      detail: { code: 'plan_limit_exceeded', resource: 'api_keys', current: 2, limit: 2, tier: 'free' },
    });

    await remove('small', itemAt(created, 0).body.id).expect(204);
    await post('small', { name: 'after revoking' }).expect(201);
    await post('small', { name: 'one too many' }).expect(403);
  });
});

describe('list', () => {
  // Guards: revoked keys stay in the list, after the active ones; no other workspace's keys are in it.
  test('gives active keys first, then newest first', async () => {
    const keys = [];
    for (const name of ['one', 'two', 'three', 'four']) keys.push(await make('other', name));
    await remove('other', itemAt(keys, 1).id).expect(204);
    await remove('other', itemAt(keys, 3).id).expect(204);

    const { body } = await list('other').expect(200);
    expect(body.data.map(({ name }: KeyBody) => name)).toEqual(['three', 'one', 'four', 'two']);
    expect(body.meta).toEqual({ total: 4 });
    expect(Object.keys(body.data[0]).sort()).toEqual([
      'created_at',
      'customer_id',
      'id',
      'key_prefix',
      'last_used_at',
      'made_by',
      'name',
      'revoked_at',
    ]);
    expect(body.data[0]).toMatchObject({ last_used_at: null, revoked_at: null });
  });
});

describe('revoke', () => {
  test('is final, and repeating it keeps the first time', async () => {
    const { id } = await make('acme');
    await remove('acme', id).expect(204, '');
    const first = (await rowOf(id)).revokedAt;
    expect(first).toBeInstanceOf(Date);
    await remove('acme', id).expect(204);
    expect((await rowOf(id)).revokedAt).toEqual(first);
  });

  // Guards: nobody can revoke another workspace's key; the answer is the same as for an unknown id.
  test("refuses another workspace's key", async () => {
    const { id } = await make('acme');
    await remove('other', id).expect(403, { detail: 'not_your_key' });
    expect((await rowOf(id)).revokedAt).toBeNull();
  });

  // Guards: an id beyond the column's range is unknown and no database error.
  test.each(['2147483647', '2147483648', '999999999999999'])('knows no key %s', async (id) => {
    await remove('acme', id).expect(404, { detail: 'not_found' });
  });

  test.each(['abc', '1.5', '-1', '99999999999999999999'])('refuses the id %s', async (id) => {
    await remove('acme', id).expect(422);
  });
});

describe('caller', () => {
  const codeOf = (secret: string) =>
    service.caller(secret).then(
      () => 'valid',
      (error: Problem) => error.code,
    );

  // Guards: a key speaks for its own workspace alone.
  test('gives the workspace of the key', async () => {
    const { id, key } = await make('acme');
    expect(await service.caller(key)).toEqual({
      workspaceId: 'acc_acme',
      customerId: 'acme',
      actor: `api-key:${id}`,
      standing: NO_STANDING,
      isArchived: false,
    });
  });

  // Guards: a secret with one wrong character opens nothing, and neither does the stored hash.
  test('knows no other secret', async () => {
    const { id, key } = await make('acme');
    const { keyHash } = await rowOf(id);
    for (const secret of ['', 'svc_pk_', `${key} `, key.slice(0, -1), key.toUpperCase(), keyHash, newApiKey()]) {
      expect(await codeOf(secret)).toBe('invalid_api_key');
    }
  });

  // Guards: a revoked key fails at the very next request.
  test('tells a revoked key from an unknown one', async () => {
    const { id, key } = await make('acme');
    expect(await codeOf(key)).toBe('valid');
    await remove('acme', id).expect(204);
    expect(await codeOf(key)).toBe('api_key_revoked');
  });

  // Guards: the query that checks a key also tells whether its workspace is archived, so a refusal needs no second
  // query.
  test('names the state of the workspace', async () => {
    const secret = newApiKey();
    await store.insert({ customerId: 'gone', name: 'old', keyHash: sha256(secret), keyPrefix: prefixOf(secret) });
    expect(await store.authenticate(secret)).toMatchObject({ kind: 'valid', isArchived: true });
  });
});

describe('last use', () => {
  /** The service's clock stands before the database's here, where keys are older than their use. */
  const makeOld = async () => {
    const made = await make('acme');
    await database.db.orm
      .update(apiKeys)
      .set({ createdAt: new Date('2026-02-01') })
      .where(eq(apiKeys.id, made.id));
    return made;
  };

  // Guards: the time of a key's last use is written after the answer, to the minute.
  test('is noted by a request', async () => {
    const { id, key } = await makeOld();
    await service.caller(key);
    let lastUsedAt: Date | null = null;
    while (!lastUsedAt) ({ lastUsedAt } = await rowOf(id));
    expect(lastUsedAt).toEqual(new Date('2026-03-01T10:00:00Z'));
  });

  // Guards: a busy key is written once a minute, and a late process does not turn the time back.
  test('is written once a minute and only forward', async () => {
    const { id } = await makeOld();
    const clear = () => database.db.orm.update(apiKeys).set({ lastUsedAt: null }).where(eq(apiKeys.id, id));
    await store.touch({ id, customerId: 'acme' }, new Date('2026-03-01T10:01:05Z'));
    await clear();
    await store.touch({ id, customerId: 'acme' }, new Date('2026-03-01T10:01:59Z'));
    expect((await rowOf(id)).lastUsedAt).toBeNull();

    await store.touch({ id, customerId: 'acme' }, new Date('2026-03-01T10:02:00Z'));
    expect((await rowOf(id)).lastUsedAt).toEqual(new Date('2026-03-01T10:02:00Z'));
    await store.touch({ id, customerId: 'acme' }, new Date('2026-03-01T10:01:00Z'));
    expect((await rowOf(id)).lastUsedAt).toEqual(new Date('2026-03-01T10:02:00Z'));
  });

  // Guards: a key is never shown as used before it was made, although uses are noted by the minute.
  test('is not before the making', async () => {
    const { id } = await make('acme');
    const { createdAt } = await rowOf(id);
    await store.touch({ id, customerId: 'acme' }, createdAt);
    expect((await rowOf(id)).lastUsedAt).toEqual(createdAt);
  });

  // Guards: a failure to note the use of a key never fails the request.
  test('does not fail a request when it cannot be written', async () => {
    const { key } = await make('acme');
    const broken = createApiKeyService({
      store: { ...store, touch: () => Promise.reject(new Error('the database is away')) },
      workspaces: createWorkspaceStore(database.db, TENANT_DATA),
    });
    await expect(broken.caller(key)).resolves.toMatchObject({ customerId: 'acme' });
  });
});
