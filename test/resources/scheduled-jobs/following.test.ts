import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ScheduleNotFoundError, type ScheduleDescription } from '@temporalio/client';
import { sql, type SQL } from 'drizzle-orm';
import { customJobId } from '../../../src/resources/scheduled-jobs/model.ts';
import { jobPrefix } from '../../../src/resources/scheduled-jobs/triggers.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';

/** Without a worker, so that nobody but the test looks after schedules. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false, env: { HOUSEKEEPING_INTERVAL: '1h' } });
});
afterAll(() => service?.close());

const rows = <Row>(statement: SQL): Promise<Row[]> => service.runtime.db.rows<Row>(statement);
const handleOf = ({ caller }: Tenant, id: string) =>
  service.runtime.temporal.client.schedule.getHandle(`${jobPrefix(service.runtime.config)}${caller.customerId}/${id}`);
/** Undefined when there is none. Temporal describes one that is new only once a worker of its own has looked at it. */
const describe = (tenant: Tenant, id: string): Promise<ScheduleDescription | undefined> =>
  eventually(() =>
    handleOf(tenant, id)
      .describe()
      .catch((error: unknown) => {
        if (error instanceof ScheduleNotFoundError) return undefined;
        throw error;
      }),
  );
const isThere = async (tenant: Tenant, id: string): Promise<boolean> => (await describe(tenant, id)) !== undefined;
const makeJob = async (tenant: Tenant): Promise<string> => {
  const job = { name: 'Report', cron: '0 3 * * *', agent_slug: 'assistant', brief: 'Report.' };
  return (await tenant.cp('POST', '/v1/scheduled-jobs', job)).body.id;
};
/** A row of which Temporal never heard, as after a crash between the two. The list of schedules lags behind what is deleted. */
const makeRow = async ({ caller }: Tenant): Promise<string> => {
  const job = { name: 'Lost', cron: '0 3 * * *', agentSlug: 'assistant', brief: 'Report.' };
  const more = { enabled: true, model: 'auto', reasoning: null, outputSchema: null };
  return customJobId((await service.services.stores.jobs.insert(caller.customerId, { ...job, ...more })).n);
};
const lookedAt = (ago: string, { caller }: Tenant) =>
  rows(
    sql`update workspaces set schedules_checked_at = now() - ${ago}::interval where customer_id = ${caller.customerId}`,
  );
const behind = async () => (await service.services.system.choresBehind()).find(({ chore }) => chore === 'followRows')!;

// Guards against: listing the schedules of all workspaces at each tick, which past some number silently left some out.
// The workspace that has waited longest is next, and one that was looked at waits for the next tick.
test('workspaces have their turns, the one that waited longest first', async () => {
  const [late, fresh] = [await service.tenant('acc_late'), await service.tenant('acc_fresh')];
  const [lost, other] = [await makeRow(late), await makeRow(fresh)];
  await rows(sql`update workspaces set schedules_checked_at = now()`);
  await lookedAt('10 hours', late);
  expect((await behind()).due).toBe(1);
  expect((await behind()).overdueS).toBeGreaterThan(30_000);

  await service.services.followRows(UNHURRIED);
  expect([await isThere(late, lost), await isThere(fresh, other)]).toEqual([true, false]);
  expect(await behind()).toMatchObject({ due: 0, overdueS: 0 });
});

// Guards: a failure in one workspace costs the others nothing, and does not cost it its next turn.
test('a workspace whose schedules are refused keeps nobody waiting', async () => {
  const [refused, fine] = [await service.tenant('acc_refused'), await service.tenant('acc_fine')];
  const [broken, lost] = [await makeJob(refused), await makeRow(fine)];
  await rows(sql`update scheduled_jobs set cron = 'never', revision = revision + 1
    where customer_id = ${refused.caller.customerId}`);
  await rows(sql`update workspaces set schedules_checked_at = now()`);
  await lookedAt('2 hours', refused);
  await lookedAt('1 hour', fine);

  await expect(service.services.followRows(UNHURRIED)).rejects.toThrow('not all schedules follow their rows');
  expect(await isThere(fine, lost)).toBe(true);
  expect((await describe(refused, broken))?.state.note).toBe('revision 1');
  expect((await behind()).due).toBe(0);
});

// Guards: the schedules of one workspace are never mistaken for leftovers of another, and are removed once it is
// archived.
test('an archived workspace has none, and its neighbour keeps its own', async () => {
  const [gone, neighbour] = [await service.tenant('acc_gone'), await service.tenant("acc_gone'or")];
  const [stray, own] = [await makeJob(gone), await makeJob(neighbour)];
  await rows(sql`update workspaces set destroying_since = now() where customer_id = ${gone.caller.customerId}`);
  await rows(sql`update workspaces set schedules_checked_at = now() - interval '1 hour'`);

  // The list of schedules lags behind by a moment.
  while (await isThere(gone, stray)) {
    await rows(sql`update workspaces set schedules_checked_at = now() - interval '1 hour'`);
    await service.services.followRows(UNHURRIED).catch(() => {});
  }
  expect(await isThere(neighbour, own)).toBe(true);
});
