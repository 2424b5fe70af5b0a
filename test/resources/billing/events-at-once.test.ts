/** Two events about one subscription at the same moment, each in a transaction of its own: on a native Postgres. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createLog } from '../../../src/platform/core/log.ts';
import { itemAt } from '../../../src/platform/core/present.ts';
import { createDatabase, type Database } from '../../../src/platform/db/client.ts';
import { createEvents } from '../../../src/resources/billing/service/events.ts';
import { createBillingStore } from '../../../src/resources/billing/store.ts';
import { createWalletStore } from '../../../src/resources/billing/wallet/store.ts';
import { isMissing } from '../../support/programs/missing.ts';
import { openNativePostgres, type NativePostgres } from '../../support/database/native-postgres.ts';
import { eventually } from '../../support/service/service.ts';
import { eventOf, signatureOf } from '../../support/fakes/stripe-server.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

const SECRET = 'whsec_1';
let postgres: NativePostgres | string;
let db: Database;
beforeAll(async () => {
  postgres = await openNativePostgres();
  const reason = typeof postgres === 'string' ? postgres : undefined;
  if (isMissing('two billing events at once', reason) || typeof postgres === 'string') return;
  db = createDatabase({ url: postgres.url, poolSize: 4 });
});
afterAll(async () => {
  await db?.close();
  if (typeof postgres === 'object') await postgres.close();
});

const planOf = async (customerId: string) => {
  const row = itemAt(
    await db.rows<{ plan: string }>(sql`select plan from workspaces where customer_id = ${customerId}`),
    0,
  );
  return row.plan;
};

/** Those who wait for a lock of this database. */
const waiting = async (): Promise<number> => {
  const row = itemAt(
    await db.rows<{ count: number }>(sql`
    select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database or l.database is null
    where d.datname = current_database() and not l.granted`),
    0,
  );
  return row.count;
};

// Guards: of two events that are handled at the same time, the one that happened later takes effect, whichever arrived
// first.
test.each([
  ['the older one first', { plan_starter: 1_000, plan_pro: 2_000 }],
  ['the newer one first', { plan_pro: 2_000, plan_starter: 1_000 }],
])('two events at once, %s', async (name, created) => {
  if (typeof postgres === 'string') return;
  const subscription = `sub_${name.replaceAll(' ', '_')}`;
  const { customerId } = await makeWorkspace(db, `acc_${subscription}`, 'free');
  const store = createBillingStore(db);
  await store.recordSubscription(customerId, undefined, subscription, {
    planId: 'plan_none',
    tier: 'free',
    isPaid: false,
  });

  /** The first one to come so far stays at what it decided, and has done it or not. */
  const [decided, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const isNewerFirst = Object.keys(created)[0] === 'plan_pro';
  let isFirst = true;
  const { receiveEvent } = createEvents({
    store: {
      ...store,
      async followSubscription(...change) {
        const isHeld = isFirst;
        isFirst = false;
        const result = isHeld && !isNewerFirst ? undefined : await store.followSubscription(...change);
        if (isHeld) {
          decided.resolve();
          await goOn.promise;
        }
        return result ?? store.followSubscription(...change);
      },
    },
    webhookSecret: SECRET,
    secret: 'only-for-this-test',
    planIds: { starter: 'plan_starter', pro: 'plan_pro' },
    wallet: createWalletStore(db),
    routerKeys: { raiseLimit: async () => {} },
    tellRouter: async () => {},
    log: createLog({ level: 'silent', pretty: false }),
  });
  const tell = (planId: string, at: number) => {
    const items = { data: [{ price: { id: 'price_1', product: planId } }] };
    const event = eventOf(
      'customer.subscription.updated',
      { id: subscription, status: 'active', items },
      { created: at },
    );
    const text = JSON.stringify(event);
    return receiveEvent({ rawBody: Buffer.from(text), signature: signatureOf(text, { secret: SECRET }) });
  };

  const [[firstPlan, firstAt], [secondPlan, secondAt]] = Object.entries(created) as [
    [string, number],
    [string, number],
  ];
  const first = tell(firstPlan, firstAt);
  await decided.promise;
  let isOver = false;
  const second = tell(secondPlan, secondAt).finally(() => (isOver = true));
  await eventually(async () => expect(isOver || (await waiting()) > 0).toBe(true));
  goOn.resolve();
  await Promise.all([first, second]);
  expect(await planOf(customerId)).toBe('pro_byo');
});
