/** What is deleted when it is old is referred to by what stays: nothing that stays may break of it. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { createRetentionStore, STATEMENTS } from '../../../src/resources/retention/store.ts';
import { makeBelongings, type Belongings } from '../../support/fixtures/belongings.ts';
import { endpoints, isOfOperator } from '../../support/http/endpoints.ts';
import { EXAMPLES } from '../../support/http/examples.ts';
import { sendConfirmed } from '../../support/http/send.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

jest.setTimeout(180_000);

const asked = endpoints.filter((each) => !isOfOperator(each) && each.credential !== 'operator');
const isLast = (id: string): boolean => id === 'workspaces.destroy';
const lateness = ({ id, method }: (typeof asked)[number]): number => (isLast(id) ? 2 : method === 'delete' ? 1 : 0);

/** What shows the transcript of a run, which is among what goes. */
const GONE = { 'runs.context': 404, 'runs.contextContent': 404 };

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let of: Belongings;
beforeAll(async () => {
  receiver = await startWebhookReceiver(() => 200);
  service = await startTestService({
    env: { WORKSPACES_SCOPED: 'true', WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort },
  });
  tenant = await service.tenant('acc_alba');
  of = await makeBelongings(service, tenant, receiver, 'alba');
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const statusOf = async (endpoint: (typeof asked)[number]): Promise<number> =>
  (await sendConfirmed(service, tenant, endpoint, await EXAMPLES[endpoint.id]?.(of))).status;

async function statusesOf(some: typeof asked): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const endpoint of some) statuses[endpoint.id] = await statusOf(endpoint);
  return statuses;
}

/** As if all that there is were older than anything is kept. */
async function sweepAll(): Promise<void> {
  const store = createRetentionStore(service.runtime.db);
  const before = new Date(Date.now() + 3_600_000);
  for (const statement of Object.values(STATEMENTS).flat()) {
    while ((await store.delete(statement, before, 500)) > 0);
  }
}

// Guards against: a table whose rows refer to deleted ones, and so keep them from being deleted or are deleted although
// they are needed.
test('references of the database to what goes', async () => {
  const text = Object.values(STATEMENTS)
    .flat()
    .map((statement) => new PgDialect().sqlToQuery(statement(new Date(0), 1)).sql)
    .join('\n');
  const swept = new Set([...text.matchAll(/delete from "(\w+)"/g)].map(([, table]) => table!));
  expect(swept.size).toBeGreaterThan(10);
  const references = await service.runtime.db.rows<{ from: string; to: string; then: string }>(sql`
    select conrelid::regclass::text as "from", confrelid::regclass::text as "to", confdeltype as "then"
    from pg_constraint where contype = 'f' order by 1, 2`);
  expect(references.filter(({ to }) => swept.has(to))).toEqual([
    // Attempts are nothing without their delivery.
    { from: 'webhook_delivery_attempts', to: 'webhook_deliveries', then: 'c' },
  ]);
});

// Guards: rows that refer to others by their ids alone, as pages, waits, artifacts and deliveries may, stay correct.
test('everything can be read and worked with when all that goes has gone', async () => {
  const reads = asked.filter(({ method }) => method === 'get');
  const before = await statusesOf(reads);
  await sweepAll();
  const after = await statusesOf(reads);
  const changed = Object.entries(after).filter(([id, status]) => status !== before[id]);
  expect(Object.fromEntries(changed)).toEqual(GONE);
  const writes = asked.filter(({ method }) => method !== 'get').sort((a, b) => lateness(a) - lateness(b));
  const failed = Object.entries(await statusesOf(writes)).filter(([, status]) => status >= 500);
  expect(failed).toEqual([]);
});
