/**
 * Rows of an archive whose values the service never writes: what is brought of them can be read everywhere, and the rest is
 * refused row by row. Each value stands in a copy of everything that a workspace has, under ids of its own.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { BROUGHT } from '../../../src/resources/exports/store/contents.ts';
import type { Line } from '../../../src/resources/imports/archive/lines.ts';
import { renewIds } from '../../../src/resources/imports/bring/ids.ts';
import { renewed } from '../../../src/resources/imports/bring/rows.ts';
import { BROUGHT_TABLES } from '../../../src/resources/imports/bring/tables.ts';
import { VALUES } from '../../../src/resources/imports/bring/values.ts';
import { archiveOf, rowsOf } from '../../support/archives/make.ts';
import { linesIn, unpack } from '../../support/archives/unpack.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { makeBelongings, type Belongings } from '../../support/fixtures/belongings.ts';
import { endpoints, fillPath, isOfOperator, parameterNames } from '../../support/http/endpoints.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { download } from '../exports/download.ts';
import { bring } from './bring.ts';

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
/** By the type of the column. */
const HOSTILE: Readonly<Record<string, readonly unknown[]>> = {
  jsonb: [
    'text',
    [{ type: 7 }],
    {},
    nested(60),
    JSON.parse(
      '{"__proto__": {"polluted": true}, "then": "x", "prompt": 7, "tools": 7, "model_override": 7, "kind": 7}',
    ),
    { project_id: 'x'.repeat(20_000), text: '\u0000' },
  ],
  timestamptz: ['infinity', '0044-03-15 00:00:00 BC'],
  numeric: ['NaN'],
  int8: ['9223372036854775807'],
  _text: [[null]],
};

let service: TestService;
let receiver: WebhookReceiver;
let target: Tenant;
let belongings: Belongings;
let columns: { table: string; column: string; type: string }[];
let brought: { brought: Record<string, number>; refused_count: number };

beforeAll(async () => {
  receiver = await startWebhookReceiver(() => ({ status: 200, body: 'taken' }));
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort } });
  const ours = await service.tenant('acc_source');
  belongings = await makeBelongings(service, ours, receiver, 'mark');
  target = await service.tenant('acc_target');
  columns = await service.runtime.db.rows(sql`
    select c.relname as table, a.attname as column, t.typname as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped order by 1, 2`);
  columns = columns.filter(
    ({ table, column }) =>
      table in BROUGHT_TABLES && BROUGHT.some((one) => one.table === table && one.columns.split(' ').includes(column)),
  );
  const archive = await unpack(await download(service, ours, belongings.exportId));
  const rows = new Map(Object.keys(BROUGHT_TABLES).map((table) => [table, linesIn(archive, `rows/${table}`)]));
  const copies = columns.flatMap(({ table, column, type }) =>
    (HOSTILE[type] ?? []).map((value, n) => ({ table, column, value, renew: renewIds(`${table}.${column}.${n}`) })),
  );
  const files = [...rows].map(([table, lines]) =>
    rowsOf(
      table,
      copies.flatMap((copy) => copiesOf(copy, table, lines)),
    ),
  );
  const { status, result, error_message: message } = await bring(target, await archiveOf(files), undefined, 500_000);
  expect({ status, message }).toEqual({ status: 'done', message: null });
  brought = result;
}, 600_000);
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

interface Copy {
  table: string;
  column: string;
  value: unknown;
  renew: ReturnType<typeof renewIds>;
}

/** Of one run, or of one project, all rows; beside them those of the table that the value is in. */
function copiesOf({ table: odd, column, value, renew }: Copy, table: string, lines: readonly Line[]): Line[] {
  const isOfRun = (name: string) => name === 'runs' || name.startsWith('run_');
  if (isOfRun(odd) !== isOfRun(table)) return [];
  const ofOne = lines.filter(({ id, run_id: run }) => !isOfRun(table) || (run ?? id) === belongings.runId);
  return ofOne
    .slice(0, 6)
    .map((line) => ({ ...renewed(table, line, renew), ...(odd === table && { [column]: value }) }));
}

// Guards against: a column of JSON of which nobody said what it may have.
test('each column of JSON that is brought says what it may have', () => {
  const said = Object.entries(VALUES).flatMap(([table, values]) =>
    Object.keys(values).map((name) => `${table}.${name}`),
  );
  const there = columns.filter(({ type }) => type === 'jsonb').map(({ table, column }) => `${table}.${column}`);
  expect(said.sort()).toEqual(there.sort());
});

// Guards: some of it came, and what did not was counted.
test('rows with such values are refused, and others are not', () => {
  expect(brought.refused_count).toBeGreaterThan(100);
  for (const table of ['runs', 'run_events', 'run_messages', 'projects', 'tasks', 'subtasks', 'attachments']) {
    expect([table, present(brought.brought[table]) > 0]).toEqual([table, true]);
  }
});

/** What stands for each parameter of an address: rows that were brought. */
async function placesOf(names: readonly string[]): Promise<Record<string, string>[]> {
  const of = names.includes('subtask_id')
    ? sql`select project_id, task_id, id as subtask_id from subtasks`
    : names.includes('task_id')
      ? sql`select project_id, id as task_id from tasks`
      : names.includes('phase_slug')
        ? sql`select distinct project_id, phase_slug from tasks`
        : names.includes('project_id')
          ? sql`select id as project_id from projects`
          : names.includes('run_id')
            ? sql`select id as run_id from runs`
            : names.includes('id')
              ? sql`select id::text as id from chat_threads`
              : undefined;
  if (!of) return [{}];
  return service.runtime.db.rows(sql`${of} where customer_id = ${target.caller.customerId}`);
}

const reads = endpoints.filter(
  (endpoint) =>
    endpoint.method === 'get' &&
    endpoint.surface === 'control-plane' &&
    endpoint.credential === 'session' &&
    !isOfOperator(endpoint) &&
    !endpoint.path.includes('stream'),
);

// Guards against: a page or a program that nobody can use any more, because of one row of somebody's file.
test.each(reads.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s reads what was brought',
  async (_id, endpoint) => {
    for (const place of await placesOf(parameterNames(endpoint))) {
      const path = fillPath(endpoint, { identity_workspace_id: 'acc_target', ...place });
      const { status, body } = await target.cp('GET', path);
      expect({ path, failed: status >= 500 ? body : undefined }).toEqual({ path, failed: undefined });
    }
  },
  300_000,
);
