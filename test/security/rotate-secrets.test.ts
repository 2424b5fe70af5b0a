/** A new key for what is stored sealed: all of it, without losing any, however often and whenever it is asked for. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretBox } from '../../src/platform/core/crypto.ts';
import { newUuid } from '../../src/platform/core/ids.ts';
import { present } from '../../src/platform/core/present.ts';
import { createRouterKeyStore, routerKeyOwner } from '../../src/resources/billing/model-router/store.ts';
import { createIntegrationStore, secretOwner, tokenOwner } from '../../src/resources/integrations/store.ts';
import { createDestinationStore } from '../../src/resources/output-destinations/store/index.ts';
import { secretOwner as destinationOwner } from '../../src/resources/output-destinations/secrets.ts';
import { createToolStore } from '../../src/resources/tools/store.ts';
import { secretOwner as webhookOwner } from '../../src/resources/webhook-subscriptions/store/endpoints.ts';
import { createWebhookStore } from '../../src/resources/webhook-subscriptions/store/index.ts';
import { rotateSecrets, SEALED_COLUMNS } from '../../src/rotate-secrets.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { preparedDatabase } from '../../src/embedded/prepared-database.mjs';
import { claimDataDir } from '../../src/embedded/stale.ts';
import { createDatabase, type Database } from '../../src/platform/db/client.ts';
import { startCli } from '../embedded/service-process.ts';
import { openTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { dumpTables } from '../support/database/dump-tables.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';

const OLD = 'the-old-key-of-the-secrets';
const NEW = 'the-new-key-of-the-secrets';
const old = createSecretBox(OLD);
const both = createSecretBox(`${NEW},${OLD}`);
const current = createSecretBox(NEW);

let database: TestDatabase;
const customerId = 'acme';

beforeAll(async () => {
  database = await openTestDatabase();
  await makeWorkspace(database.db, 'acc_acme');
});
afterAll(() => database?.close());
beforeEach(() =>
  database.db.rows(
    sql`truncate integration_credentials, integration_secrets, tools, webhook_subscriptions, output_destinations, router_keys cascade`,
  ),
);

/** One of each kind of secret, and `tokens` tokens. */
async function fill(box = old, tokens = 1, db = database.db): Promise<void> {
  const store = createIntegrationStore(db);
  for (let n = 1; n <= tokens; n += 1) {
    const key = { customerId, slug: 'github', kind: 'token', scope: `scope-${n}` };
    await store.putToken({ ...key, tokenId: newUuid(), sealed: box.seal(`token ${n}`, tokenOwner(key)) });
  }
  const secret = { customerId, slug: 'smtp', dotted: 'server.user' };
  await store.putSecret({ ...secret, sealed: box.seal('user', secretOwner(secret)) });
  await createToolStore(db, box).insert(customerId, 'hook', {
    description: 'A tool.',
    kind: 'stub',
    shape: 'api',
    access: 'both',
    integration: null,
    effect: 'read',
    sensitive: false,
    schema: { type: 'object' },
    body: { result: 'a result' },
  });
  const destinationId = newUuid();
  await createDestinationStore(db).insert({
    id: destinationId,
    customerId,
    name: 'hook',
    kind: 'webhook',
    workflowSlugs: null,
    enabled: true,
    artifacts: true,
    waits: false,
    spending: false,
    config: { url: 'https://example.com', secret: '***' },
    sealed: box.seal('{"secret":"of a destination"}', destinationOwner(customerId, destinationId)),
  });
  await createRouterKeyStore(db).insert({
    customerId,
    keyHash: 'hash',
    limitUsd: '1',
    sealed: box.seal('router key', routerKeyOwner(customerId)),
  });
  const webhooks = createWebhookStore(db);
  const sealed = (text: string, id: number) => box.seal(text, webhookOwner(customerId, id));
  const endpoint = { customerId, url: 'https://example.com', events: ['*'] };
  const { id } = await webhooks.insertSubscription(endpoint, (own) => sealed('first secret', own));
  const rotated = ({ sealedSecret }: { sealedSecret: string }) => ({
    sealedSecret: sealed('second secret', id),
    sealedPreviousSecret: sealedSecret,
  });
  await webhooks.rotateSecret(customerId, id, rotated, 1e6);
}

/** Everything that is sealed, opened as those do who use it. */
async function openAll(box = current, db = database.db): Promise<string[]> {
  const opened: string[] = [];
  for (const { table, column, owner } of SEALED_COLUMNS) {
    const rows = await db.rows<{ row: Record<string, string> }>(
      sql`select to_jsonb(t) as row from ${sql.identifier(table)} t`,
    );
    opened.push(...rows.map(({ row }) => box.open(present(row[column]), owner(row as never))));
  }
  return opened.sort();
}
const ALL = [
  'first secret',
  'router key',
  'second secret',
  'token 1',
  'user',
  '{"result":"a result"}',
  '{"secret":"of a destination"}',
];

// Guards against: a table with sealed values that the rotation does not know, which would be lost with the old key.
test('every sealed column is known', async () => {
  const columns = await database.db.rows<{ name: string }>(sql`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and column_name like '%sealed%' order by 1`);
  expect(columns.map(({ name }) => name)).toEqual(SEALED_COLUMNS.map((c) => `${c.table}.${c.column}`).sort());
});

// Guards: afterwards the new key alone opens everything, and nothing but the sealed values has changed.
test('seals all anew', async () => {
  await fill();
  const ignored = ['sealed', 'sealed_body', 'sealed_secret', 'sealed_previous_secret'];
  const before = await dumpTables(database.db, ignored);
  const rotations = await rotateSecrets(database.db, both);
  expect(rotations.map(({ resealed, unreadable, remaining }) => [resealed, unreadable, remaining])).toEqual(
    SEALED_COLUMNS.map(() => [1, 0, 0]),
  );
  expect(await openAll()).toEqual(ALL);
  expect(await dumpTables(database.db, ignored)).toEqual(before);
});

// Guards: a rotation can be repeated, and two at once do no harm.
test('can be repeated', async () => {
  await fill(old, 30);
  await Promise.all([rotateSecrets(database.db, both), rotateSecrets(database.db, both)]);
  const sealed = await dumpTables(database.db);
  const rotations = await rotateSecrets(database.db, both);
  expect(rotations.map(({ resealed }) => resealed)).toEqual(SEALED_COLUMNS.map(() => 0));
  expect(await dumpTables(database.db)).toEqual(sealed);
  expect(await openAll()).toHaveLength(29 + ALL.length);
});

describe('what cannot be opened', () => {
  // Guards: one value that cannot be opened neither stops the others nor is destroyed, and many of them in front stop
  // nothing either.
  test('stays and is counted', async () => {
    const lost = createSecretBox('a-key-that-nobody-has-any-more');
    await fill(lost, 250);
    const key = { customerId, slug: 'notion', kind: 'token', scope: 'shared' };
    const store = createIntegrationStore(database.db);
    await store.putToken({ ...key, tokenId: newUuid(), sealed: old.seal('found', tokenOwner(key)) });
    const [tokens] = await rotateSecrets(database.db, both);
    expect(tokens).toMatchObject({ resealed: 1, unreadable: 250, remaining: 250 });
    expect(await openAll(createSecretBox(`${NEW},a-key-that-nobody-has-any-more`))).toContain('found');
  });
});

describe('aos secrets rotate', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-secrets-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The database of DATA_DIR, for as long as nobody else has it. */
  async function withKept<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), from: preparedDatabase() });
    const db = createDatabase({ url: postgres.url, poolSize: 1 });
    try {
      return await work(db);
    } finally {
      await db.close();
      await postgres.stop();
    }
  }
  const run = async (env: Record<string, string>, ...args: string[]) => {
    const { ended, stdout, stderr } = startCli(['secrets', 'rotate', ...args], env);
    return { code: await ended, stdout: stdout(), stderr: stderr() };
  };

  // Guards: the embedded mode makes its new key itself, keeps it before it is used, and drops the old one at the end.
  // An operator with own keys is told whether the old one can go, and a program learns it from the exit code.
  test('changes the key of DATA_DIR, then one that is given', async () => {
    await withKept(async (db) => {
      await makeWorkspace(db, 'acc_acme');
      await fill(old, 1, db);
    });
    const file = join(folder, 'secrets.json');
    await writeFile(file, JSON.stringify({ SECRETS_KEY: OLD, SESSION_SECRET: 'kept' }), { mode: 0o600 });
    const embedded = await run({ DATA_DIR: folder });
    expect(embedded).toEqual({ code: 0, stdout: expect.stringContaining('the older one is gone'), stderr: '' });
    const kept = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
    expect(kept).toEqual({ SECRETS_KEY: expect.stringMatching(/^[\w-]{43}$/), SESSION_SECRET: 'kept' });
    const own = present(kept.SECRETS_KEY);
    expect(await withKept((db) => openAll(createSecretBox(own), db))).toEqual(ALL);

    const without = await run({ DATA_DIR: folder, SECRETS_KEY: NEW });
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining(`${ALL.length} cannot be opened`) });
    const given = await run({ DATA_DIR: folder, SECRETS_KEY: `${NEW},${own}` }, '--json');
    expect(given).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(given.stdout)).toMatchObject({ key_id: current.keyId, old_keys_needed: false });
    expect(await withKept((db) => openAll(current, db))).toEqual(ALL);
  });

  // Guards: a running service has read its key, and would open nothing that is sealed with another: nothing is changed, and
  // the message says how to go about it, also where the database is another machine's.
  test.each<Record<string, string>>([{}, { DATABASE_URL: 'postgres://127.0.0.1:1/elsewhere' }])(
    'waits for the service to stop %j',
    async (env) => {
      const file = join(folder, 'secrets.json');
      const kept = JSON.stringify({ SECRETS_KEY: OLD });
      await writeFile(file, kept, { mode: 0o600 });
      const claim = await claimDataDir(folder);
      try {
        const { code, stderr } = await run({ ...env, DATA_DIR: folder });
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: expect.stringMatching(
            /in use by a running service \(process \d+\).*stop the service .*run this again/s,
          ),
        });
        expect(await readFile(file, 'utf8')).toBe(kept);
      } finally {
        claim.release();
      }
    },
  );

  // Guards: without a database the command prints one line.
  test('needs a database', async () => {
    const { code, stderr } = await run({ DATA_DIR: join(folder, 'nowhere') });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: no database: set DATABASE_URL/),
    });
  });
});
