import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ScheduleNotFoundError } from '@temporalio/client';
import { sql } from 'drizzle-orm';
import { heartbeatPrefix } from '../../../src/resources/heartbeats/service.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService({ env: { HOUSEKEEPING_INTERVAL: '1s' } });
  tenant = await service.tenant('acc_beats');
});
afterAll(() => service.close());

const BEAT = { name: 'Pulse', agent_slug: 'assistant', prompt: 'Anything new?', interval_s: 10 };

describe('a heartbeat', () => {
  // Guards: the interval is Temporal's, and a beat becomes a run.
  test('beats', async () => {
    const { status, body } = await tenant.cp('POST', '/v1/heartbeats', BEAT);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      ...BEAT,
      enabled: true,
      next_run_at: expect.any(String),
      created_at: expect.any(String),
    });
    const run = await eventually(async () => {
      const { body: runs } = await tenant.cp('GET', '/v1/runs');
      expect(runs.data).not.toHaveLength(0);
      return runs.data[0];
    });
    expect(run).toMatchObject({ transport: 'cron', agent: 'assistant' });
    const { body: jobs } = await tenant.cp('GET', '/v1/scheduled-jobs');
    expect(jobs.meta).toMatchObject({ heartbeat_total: 1, heartbeat_enabled: 1 });
  });

  // Guards: the whole life of a heartbeat; an id of the wrong form is unknown.
  test('is changed and deleted', async () => {
    const { body } = await tenant.cp('POST', '/v1/heartbeats', { ...BEAT, interval_s: 3_600 });
    const path = `/v1/heartbeats/${body.id}`;
    const { body: changed } = await tenant.cp('PATCH', path, { enabled: false, interval_s: 60 });
    expect(changed).toMatchObject({ enabled: false, interval_s: 60, next_run_at: null });
    expect((await tenant.cp('GET', path)).body).toEqual(changed);
    expect((await tenant.cp('PATCH', path, {})).status).toBe(400);
    expect((await tenant.cp('DELETE', path)).status).toBe(204);
    expect((await tenant.cp('GET', path)).status).toBe(404);
    expect((await tenant.cp('GET', '/v1/heartbeats/none')).status).toBe(404);
  });

  // Guards: bad input lists what is wrong.
  test.each([
    [{ interval_s: 9 }, 'interval_s'],
    [{ interval_s: 10.5 }, 'interval_s'],
    [{ name: '' }, 'name'],
    [{ prompt: undefined }, 'prompt'],
  ])('is refused with %j', async (more, field) => {
    const { status, body } = await tenant.cp('POST', '/v1/heartbeats', { ...BEAT, ...more });
    expect([status, body.detail[0].loc]).toEqual([422, ['body', field]]);
  });
});

describe('housekeeping', () => {
  const customerId = 'beats';
  const scheduleOf = (id: string) =>
    service.runtime.temporal.client.schedule.getHandle(`${heartbeatPrefix(service.runtime.config)}${id}`);
  const make = async (): Promise<string> =>
    (await tenant.cp('POST', '/v1/heartbeats', { ...BEAT, interval_s: 3_600 })).body.id;

  // Guards: schedules are brought back to what the rows say, whichever side was broken: lost, changed by hand, changed
  // in the row alone or without a row, and whatever error Temporal gives for one of them.
  test('holds schedules to their rows', async () => {
    const [refused, lost, paused, ahead, stray] = await Promise.all([make(), make(), make(), make(), make()]);
    await service.runtime.db.rows(
      sql`update heartbeats set interval_s = -1, revision = revision + 1 where id = ${refused}`,
    );
    const { heartbeats } = service.services.stores;
    await scheduleOf(lost).delete();
    await scheduleOf(paused).pause('by hand');
    await heartbeats.change(customerId, ahead, { intervalS: 7_200, enabled: false });
    await heartbeats.delete(customerId, stray);
    await eventually(async () => {
      expect((await scheduleOf(lost).describe()).state.note).toBe('revision 1');
      expect((await scheduleOf(paused).describe()).state.paused).toBe(false);
      const { state, spec } = await scheduleOf(ahead).describe();
      expect([state.paused, spec.intervals?.map(({ every }) => every)]).toEqual([true, [7_200_000]]);
      await expect(scheduleOf(stray).describe()).rejects.toBeInstanceOf(ScheduleNotFoundError);
    });
    expect((await scheduleOf(refused).describe()).state.note).toBe('revision 1');
  });
});
