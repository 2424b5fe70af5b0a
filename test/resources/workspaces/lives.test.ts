/**
 * What is made again under the id of a workspace belongs to nobody of before, and what is archived changes nothing: with
 * one of each thing that a workspace can own, asked of every endpoint, and looked for in every row.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { isForOpen, type Caller } from '../../../src/platform/http/endpoint.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';
import { makeBelongings, type Belongings } from '../../support/fixtures/belongings.ts';
import { dumpRecords } from '../../support/database/dump-tables.ts';
import { byId, endpoints, isOfOperator } from '../../support/http/endpoints.ts';
import { EXAMPLES } from '../../support/http/examples.ts';
import { claimsFor, startIdentityProvider, type IdentityProvider } from '../../support/fakes/identity-provider.ts';
import { INTERNAL_CALLER, send } from '../../support/http/send.ts';
import {
  sessionFor,
  startTestService,
  tenantOf,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { askAs } from './asking.ts';

const MARK = 'mark-of-before';
const WORKSPACE = 'acc_reborn';

let service: TestService;
let receiver: WebhookReceiver;
let identity: IdentityProvider;
let before: Tenant;
let belongings: Belongings;
const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);
const member = (actor: string): Caller => ({ ...before.caller, actor });
const asOperator = () => askAs(service, INTERNAL_CALLER);

beforeAll(async () => {
  receiver = await startWebhookReceiver(() => ({ status: 200, body: 'taken' }));
  identity = await startIdentityProvider();
  service = await startTestService({
    env: {
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      HOUSEKEEPING_INTERVAL: '1h',
      TURN_SECRET: 'turn-secret-of-the-tests',
      TURN_URLS: 'turn:turn.example.com',
      ...identity.settings,
    },
  });
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
  before = await service.tenant(WORKSPACE);
  belongings = await makeBelongings(service, before, receiver, MARK);
});
afterAll(async () => {
  await service?.close();
  await identity?.close();
  await receiver?.close();
});

const FATES = Object.fromEntries(Object.entries(TENANT_DATA).map(([table, { end }]) => [table, end]));

describe('every table', () => {
  // Guards against: a new table whose rows nobody handles at the end of a workspace.
  test('says what becomes of its rows', async () => {
    const tables = await rows<{ name: string }>(sql`
      select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`);
    expect(Object.keys(FATES).sort()).toEqual(tables.map(({ name }) => name).sort());
  });

  // Guards against: rows that stay behind, or keep others from being deleted, because nothing deletes them.
  test('goes with what it says', async () => {
    const references = await rows<{ from: string; to: string; isCascade: boolean }>(sql`
      select conrelid::regclass::text as from, confrelid::regclass::text as to, confdeltype = 'c' as "isCascade"
      from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`);
    const order = Object.keys(FATES).reverse();
    for (const [table, fate] of Object.entries(FATES)) {
      if ('goesWith' in fate && order.includes(fate.goesWith)) {
        expect({ table, with: references.filter(({ from, to }) => from === table && to === fate.goesWith) }).toEqual({
          table,
          with: expect.arrayContaining([expect.objectContaining({ isCascade: true })]),
        });
      }
    }
    const early = references.filter(
      ({ from, to, isCascade }) =>
        !isCascade &&
        'goes' in present(FATES[from]) &&
        'goes' in present(FATES[to]) &&
        order.indexOf(from) > order.indexOf(to),
    );
    expect(early).toEqual([]);
  });

  // Guards against: an end that reads a whole table for each of its rows to find references.
  test('is found from what it refers to', async () => {
    const unindexed = await rows<{ table: string; constraint: string }>(sql`
      select f.conrelid::regclass::text as table, f.conname as constraint from pg_constraint f
      where f.contype = 'f' and f.connamespace = 'public'::regnamespace and f.confrelid <> 'workspaces'::regclass
        and not exists (select from pg_index i where i.indrelid = f.conrelid
          and (i.indkey::int2[])[0:cardinality(f.conkey) - 1] @> f.conkey)`);
    expect(unindexed).toEqual([{ table: 'cost_reservations', constraint: expect.stringContaining('budget') }]);
  });
});

describe('an archived workspace', () => {
  let archived: string[];
  const recorded = async () =>
    (await dumpRecords(service.runtime.db)).filter((row) => !/^public\.audit_log /.test(row));

  beforeAll(async () => {
    expect(await asOperator()('DELETE', `/${WORKSPACE}`)).toMatchObject({ status: 200 });
    // It is revoked; that is not what is tried here.
    await rows(sql`update api_keys set revoked_at = null where customer_id = ${before.caller.customerId}`);
    archived = await recorded();
  });
  afterAll(() => rows(sql`update api_keys set revoked_at = now() where customer_id = ${before.caller.customerId}`));

  const changing = endpoints.filter((endpoint) => isForOpen(endpoint) && !isOfOperator(endpoint));

  // Guards against: settings, files and rows that are made in an archived workspace, where they stay for ever and take
  // effect when it is made again. A new endpoint is covered once it is declared.
  test.each(byId(changing))('%s changes nothing', async (id, endpoint) => {
    const parts = await EXAMPLES[id]?.(belongings);
    expect(await send(service, before, endpoint, parts)).toMatchObject({
      status: 403,
      body: { detail: 'workspace_archived' },
    });
  });

  test('and nothing was', async () => {
    expect(changing.length).toBeGreaterThan(60);
    expect(await recorded()).toEqual(archived);
  });

  // Guards: the past of an archived workspace can be read until it is made again.
  test('can be read', async () => {
    expect((await before.cp('GET', '/v1/runs')).body.data.length).toBeGreaterThan(0);
    expect((await before.cp('GET', `/v1/projects/${belongings.projectId}`)).status).toBe(200);
  });

  // Guards against: keeping secrets of third parties that nobody needs any more.
  test('keeps no credential', async () => {
    expect(
      await rows(sql`select 1 from integration_credentials where customer_id = ${before.caller.customerId}`),
    ).toEqual([]);
  });
});

describe('made again for somebody else', () => {
  let after: Tenant;
  let token: string;
  let sent: number;

  beforeAll(async () => {
    const iat = Math.floor(Date.now() / 1_000);
    token = await identity.token({ ...claimsFor(before), iat, email: 'ana@before.example' });
    expect(await asOperator()('POST', '', { identity_workspace_id: WORKSPACE, plan: 'free' })).toMatchObject({
      status: 201,
    });
    sent = receiver.received.length;
    const owner = member('new-owner@after.example');
    const session = sessionFor(owner);
    const key = await tenantOf(service.baseUrl, owner, '', session).cp('POST', '/v1/api-keys', { name: 'new' });
    expect(key.status).toBe(201);
    after = tenantOf(service.baseUrl, owner, key.body.key, session);
  });

  // Guards against: rows of the earlier life in the new one.
  test('it holds nothing of before', async () => {
    const stays = Object.entries(FATES).flatMap(([table, fate]) => ('stays' in fate ? [`public.${table} `] : []));
    const left = (await dumpRecords(service.runtime.db)).filter(
      (row) =>
        (row.includes(MARK) || row.includes('"customer_id": "reborn"')) && !stays.some((of) => row.startsWith(of)),
    );
    expect(left).toEqual([expect.stringMatching(/^public\.api_keys .*"name": "new"/)]);
  });

  // Guards: rows that are kept on purpose are shown to the members of the new life.
  test.each(byId(endpoints.filter(({ method, credential }) => method === 'get' && credential !== 'provider')))(
    '%s shows nothing of before',
    async (id, endpoint) => {
      if (isOfOperator(endpoint)) return;
      const named = await send(service, after, endpoint, await EXAMPLES[id]?.(belongings));
      const all = await send(service, after, endpoint);
      const shown = JSON.stringify([named.body, all.body]);
      expect(shown).not.toContain(belongings.runId);
      // Where it says what is unknown, it says the name that it was asked for.
      if (named.status === 200) expect(shown).not.toContain(MARK);
    },
  );

  // Guards against: a key, session or token of the earlier life that opens the new one.
  test('nothing of before opens it', async () => {
    expect(await before.cp('GET', '/v1/runs')).toMatchObject({ status: 401 });
    expect(await before.api('GET', '/v1/agents')).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${token}` };
    const address = `${service.controlPlaneUrl}/v1/chat/threads`;
    expect((await fetch(address, { headers })).status).toBe(401);
    const iat = Date.now() / 1_000;
    const fresh = await identity.token({ ...claimsFor(after), iat, email: 'new-owner@after.example' });
    expect((await fetch(address, { headers: { authorization: `Bearer ${fresh}` } })).status).toBe(200);
  });

  // Guards against: a member of the earlier life who learns what the new one does.
  test('nobody of before hears of it', async () => {
    const { status } = await after.run({ agent: 'assistant', prompt: 'Hello' });
    expect(status).toBe('succeeded');
    const { body } = await after.cp('GET', '/v1/webhook-deliveries');
    expect(body.data).toEqual([]);
    expect(receiver.received.length).toBe(sent);
  });
});

// Guards against: an owner who makes the workspace again and is signed out by that.
test('whoever makes the own one again stays signed in', async () => {
  const tenant = await service.tenant('acc_own');
  const stranger = sessionFor({ ...tenant.caller, actor: 'other@own.example' });
  expect((await askAs(service, tenant.caller)('DELETE', '/acc_own')).status).toBe(200);
  const again = await askAs(service, tenant.caller)('POST', '', { identity_workspace_id: 'acc_own', plan: 'free' });
  expect(again).toMatchObject({ status: 201, body: { status: 'pending' } });
  expect((await tenant.cp('GET', '/v1/runs')).status).toBe(200);
  expect((await tenantOf(service.baseUrl, tenant.caller, '', stranger).cp('GET', '/v1/runs')).status).toBe(401);
});
