/**
 * The second wall between workspaces, in the place of row-level security (decision 86): whatever a request sends to
 * Postgres is parsed, and each table of tenants in it must be held to the workspace that asked. So a forgotten condition
 * fails here even where no test has a row that it would show.
 */
import { asyncLocalStorage as activities } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { loadModule } from 'libpg-query';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../src/platform/core/present.ts';
import type { Endpoint } from '../../src/platform/http/endpoint.ts';
import { makeBelongings, type Belongings } from '../support/fixtures/belongings.ts';
import { SCHEMA_QUERIES, schemaOf, unboundTables, type Schema } from '../support/database/bound-statements.ts';
import { byId, endpoints, isOfOperator } from '../support/http/endpoints.ts';
import { EXAMPLES } from '../support/http/examples.ts';
import { sendConfirmed } from '../support/http/send.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { tried } from '../support/runner/sizes.ts';
import { isLook, recordStatements, type Statement } from '../support/database/statements.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

jest.setTimeout(180_000);

/** What may look beyond the workspace that asks, and why. */
const EXCEPTIONS: readonly { tables: readonly string[]; text: RegExp; reason: string }[] = [
  {
    tables: ['api_keys', 'workspaces', 'workspace_members', 'former_members'],
    text: /from api_keys k join workspaces on .* where k\.key_hash = \$1$/,
    reason: 'it finds out who asks: the hash of the key is the credential',
  },
  {
    tables: ['otp_challenges'],
    text: /^select \(count\(\*\) filter .* from "otp_challenges" where \("otp_challenges"\."recipient" = \$\d+ and/,
    reason: 'it counts the mails of codes to an inbox, which workspaces may share',
  },
  {
    tables: ['delivery_slots'],
    text: /delivery_slots/,
    reason: 'it takes a place at a host, which workspaces share, and gives it back',
  },
  {
    tables: ['runs', 'projects', 'webhook_deliveries', 'output_deliveries', 'workspace_exports', 'workspaces'],
    text: /^update (\w+ set (start_)?due_at = |"\w+" t set "due_at" = now\(\) .* as under_way ).* (status in \('queued', 'running'\)|status = 'pending'|start_due_at is not null)$/,
    reason: 'it notes what Temporal has acknowledged, of all workspaces together; the ids are those of the process',
  },
];

/** Of the deployment's operator, who sees every workspace. */
const isOfTenants = (endpoint: Endpoint): boolean => !isOfOperator(endpoint) && endpoint.credential !== 'operator';
/** Destroys come last, that of the workspace after all others. */
const lateness = ({ id, method }: Endpoint): number =>
  id === 'workspaces.destroy' ? 3 : method === 'delete' ? 2 : method === 'get' ? 0 : 1;
const asked = endpoints.filter(isOfTenants).sort((a, b) => lateness(a) - lateness(b));

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let schema: Schema;
/** By endpoint. */
const sent = new Map<string, Statement[]>();
/** Of the activities that went on meanwhile, by activity. */
let done: Map<string, Statement[]>;

beforeAll(async () => {
  await loadModule();
  receiver = await startWebhookReceiver(() => 200);
  service = await startTestService({
    env: { WORKSPACES_SCOPED: 'true', WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort },
  });
  const { db } = service.runtime;
  schema = schemaOf({
    columns: await db.rows(sql.raw(SCHEMA_QUERIES.columns)),
    unique: await db.rows(sql.raw(SCHEMA_QUERIES.unique)),
    references: await db.rows(sql.raw(SCHEMA_QUERIES.references)),
  });
  // Numbers that are ids are told from those that count something.
  const sequences = await db.rows<{ name: string }>(
    sql`select sequencename as name from pg_sequences where schemaname = 'public'`,
  );
  for (const { name } of sequences) await db.rows(sql.raw(`alter sequence "${name}" restart with ${LEAST_ID}`));
  tenant = await service.tenant('acc_alba');
  done = await recordActivities(async () => {
    const of = await makeBelongings(service, tenant, receiver, 'alba');
    for (const endpoint of asked) sent.set(endpoint.id, await statementsOf(endpoint, of));
  });
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const LEAST_ID = 7_000_000;
const LEAST_LENGTH = 12;

/** What the request itself asks of the database, and not what the workflows do of which it tells. */
const statementsOf = async (endpoint: Endpoint, of: Belongings): Promise<Statement[]> => {
  const parts = await EXAMPLES[endpoint.id]?.(of);
  const statements = await recordStatements(
    () => sendConfirmed(service, tenant, endpoint, parts),
    () => activities.getStore() === undefined,
  );
  return statements.filter(isLook);
};

/** Workflows that look after all workspaces. */
const OF_ALL = ['housekeeper', 'integrationHealth', 'systemJob'];

/** What workflows of a workspace ask of the database meanwhile. */
async function recordActivities(work: () => Promise<void>): Promise<Map<string, Statement[]>> {
  const types: string[] = [];
  const statements = await recordStatements(work, () => {
    const info = activities.getStore()?.info;
    if (!info || OF_ALL.includes(present(info.workflowType))) return false;
    types.push(info.activityType);
    return true;
  });
  const byType = Map.groupBy(statements.entries(), ([at]) => itemAt(types, at));
  return new Map([...byType].map(([type, entries]) => [type, entries.map(([, each]) => each).filter(isLook)]));
}

/** Values of a row, at any depth, that are long enough to be the id of something. */
const idsIn = (value: unknown): string[] => {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(idsIn);
  // Big numbers come as texts.
  if (Number(value) >= LEAST_ID) return [String(value)];
  return typeof value === 'string' && value.length >= LEAST_LENGTH ? [value] : [];
};

/**
 * Of the statements of one request, or of activities, those that are not bound, each with its tables.
 * @param given keys of the workspace's rows that are known beforehand
 */
function unboundIn(
  statements: readonly Statement[],
  given: readonly string[] = [],
): { tables: string[]; text: string }[] {
  const { customerId, workspaceId } = tenant.caller;
  const keys = new Set<unknown>([workspaceId, `wallet:${customerId}`, ...given]);
  return statements.flatMap(({ text, values, rows }) => {
    const tables = unboundTables(text, values, schema, {
      isOwner: (value) => value === customerId,
      isKeyOfOwned: (value) => keys.has(String(value)),
    });
    if (tables.length > 0) return [{ tables, text: text.replace(/\s+/g, ' ').trim() }];
    // What a bound statement gave is the workspace's, and so is what one has written.
    for (const id of idsIn(rows)) keys.add(id);
    if (/\binsert into\b/.test(text)) for (const id of idsIn(values)) keys.add(id);
    return [];
  });
}

const isException = ({ tables, text }: { tables: string[]; text: string }): boolean =>
  EXCEPTIONS.some((each) => each.text.test(text) && tables.every((table) => each.tables.includes(table)));

describe('statements of a request', () => {
  // Guards against: a query, or a part of one, that would read another workspace's rows.
  test.each(byId(asked))('%s', (id) => {
    const statements = present(sent.get(id));
    expect(unboundIn(statements).filter((each) => !isException(each))).toEqual([]);
    tried('statements parsed', statements.length);
  });

  // Guards: the check above covers every endpoint that asks the database, and lists those that do not.
  test('are there', () => {
    const texts = new Set([...sent.values()].flat().map(({ text }) => text));
    expect(texts.size).toBeGreaterThan(150);
  });

  // Guards against: exceptions that nothing needs any more.
  test.each(EXCEPTIONS)('exception: $reason', (exception) => {
    const all = [...sent.values(), ...done.values()].flat().map(({ text }) => text.replace(/\s+/g, ' ').trim());
    expect(all.some((text) => exception.text.test(text))).toBe(true);
  });
});

// Guards: the same for activities, which get ids from their workflows: each statement is bound to a workspace.
test('statements of activities are about the workspace, or about what its workflows were given', async () => {
  expect([...done.keys()]).toEqual(
    expect.arrayContaining(['takeTurn', 'callTool', 'openPhase', 'settleAttempt', 'deliverWebhook', 'deliverOutput']),
  );
  const given = [...done.values()].flatMap((statements) => statements.flatMap(({ values }) => idsIn(values)));
  const faults = [...done].flatMap(([activity, statements]) =>
    unboundIn(statements, given)
      .filter((each) => !isException(each))
      .map(({ tables, text }) => `${activity} ${tables}: ${text}`),
  );
  expect([...new Set(faults)]).toEqual([]);
});

describe('the check itself', () => {
  const known = {
    isOwner: (value: unknown) => value === 'alba',
    isKeyOfOwned: (value: unknown) => value === 'key-of-alba',
  };
  const check = (text: string, values: unknown[]) => unboundTables(text, values, schema, known);

  test.each([
    ['by the workspace', `select * from runs where customer_id = $1 and status = 'queued'`, ['alba']],
    ['by a key that was read before', 'select * from run_events where run_id = $1', ['key-of-alba']],
    ['through a join', 'select 1 from runs r join run_events e on e.run_id = r.id where r.customer_id = $1', ['alba']],
    [
      'in a common table',
      'with r as (select id from runs where customer_id = $1) select 1 from run_events e join r on e.run_id = r.id',
      ['alba'],
    ],
    ['as a list', 'delete from run_events where run_id in (select id from runs where customer_id = $1)', ['alba']],
    [
      'in a subquery that sees it',
      'select (select count(*) from run_events e where e.run_id = r.id) from runs r where r.customer_id = $1',
      ['alba'],
    ],
    [
      'with what ships',
      'select * from templates where (customer_id = $1 or customer_id is null) and slug = $2',
      ['alba', 'x'],
    ],
    ['when written', 'insert into runs (id, customer_id) values ($1, $2)', ['x', 'alba']],
    [
      'when written of two',
      'with r as (select id from runs where customer_id = $1) insert into run_events (run_id) select id from r union all select id from r',
      ['alba'],
    ],
    [
      'when written of lists',
      'insert into runs (customer_id, id) select l.c, l.id from unnest($1::text[], $2::text[]) as l(c, id)',
      [
        ['alba', 'alba'],
        ['x', 'y'],
      ],
    ],
    ['when changed', `update runs set status = 'failed' where id = $1 and customer_id = $2`, ['x', 'alba']],
  ])('bound %s', (_, text, values) => {
    expect(check(text, values)).toEqual([]);
  });

  test.each([
    ['no condition', 'select count(*) from runs', [], ['runs']],
    ['the key alone', 'select * from runs where id = $1', ['x'], ['runs']],
    ['another workspace', 'select * from runs where customer_id = $1', ['bora'], ['runs']],
    ['a condition that need not hold', 'select * from runs where customer_id = $1 or id = $2', ['alba', 'x'], ['runs']],
    [
      'a name that others use too',
      'select 1 from runs r join agents a on a.slug = r.agent where r.customer_id = $1',
      ['alba'],
      ['agents'],
    ],
    [
      'an outer join of it',
      'select 1 from runs r left join projects p on p.customer_id = r.customer_id and r.customer_id = $1',
      ['alba'],
      ['runs', 'projects'],
    ],
    ['a subquery', 'select (select count(*) from runs) from projects where customer_id = $1', ['alba'], ['runs']],
    [
      'one side of a union',
      'select id from runs where customer_id = $1 union all select id from runs',
      ['alba'],
      ['runs'],
    ],
    ['a common table', 'with r as (select id from runs) select 1 from r', [], ['runs']],
    ['a negation', 'select * from runs where not customer_id = $1', ['alba'], ['runs']],
    ['a comparison', 'select * from runs where customer_id <> $1', ['alba'], ['runs']],
    ['a write', 'insert into runs (id, customer_id) values ($1, $2)', ['x', 'bora'], ['runs']],
    [
      'a row of somebody else among others',
      'insert into runs (id, customer_id) values ($1, $2), ($3, $4)',
      ['x', 'alba', 'y', 'bora'],
      ['runs'],
    ],
    [
      'one of two that are written',
      'with r as (select id from runs where customer_id = $1) insert into run_events (run_id) select id from r union all select $2',
      ['alba', 'x'],
      ['run_events'],
    ],
    [
      'lists with a row of somebody else',
      'insert into runs (customer_id, id) select l.c, l.id from unnest($1::text[], $2::text[]) as l(c, id)',
      [
        ['alba', 'bora'],
        ['x', 'y'],
      ],
      ['runs'],
    ],
    [
      'the wrong one of two lists',
      'insert into runs (customer_id, prompt) select l.id, l.c from unnest($1::text[], $2::text[]) as l(c, id)',
      [
        ['alba', 'alba'],
        ['x', 'y'],
      ],
      ['runs'],
    ],
    ['a change', `update runs set status = 'failed' where id = $1`, ['x'], ['runs']],
    ['a removal', 'delete from memory_entries where slug = $1', ['x'], ['memory_entries']],
  ])('unbound: %s', (_, text, values, tables) => {
    expect(check(text, values)).toEqual(tables);
  });
});
