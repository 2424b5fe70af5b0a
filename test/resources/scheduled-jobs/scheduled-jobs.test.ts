import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ScheduleNotFoundError } from '@temporalio/client';
import { sql } from 'drizzle-orm';
import { jobPrefix } from '../../../src/resources/scheduled-jobs/triggers.ts';
import { findStalls, watchOwnLoop } from '../../support/observability/stall-oracle.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService({ env: { HOUSEKEEPING_INTERVAL: '1s' } });
  tenant = await service.tenant('acc_jobs');
});
afterAll(() => service.close());

interface Run {
  run_id: string;
  agent: string;
  last_status: string;
}
const JOB = { name: 'Morning report', cron: '0 6 * * *', agent_slug: 'assistant', brief: 'Say good morning.' };
let made = 0;
const create = (more: object = {}) =>
  tenant.cp('POST', '/v1/scheduled-jobs', { ...JOB, name: `Job ${++made}`, ...more });
const idOf = async (more: object = {}): Promise<string> => (await create(more)).body.id;
const listed = async (id: string) => {
  const { body } = await tenant.cp('GET', '/v1/scheduled-jobs');
  return body.data.find((row: { id: string }) => row.id === id);
};
const schedules = () => service.runtime.temporal.client.schedule;
const scheduleOf = (id: string) =>
  schedules().getHandle(`${jobPrefix(service.runtime.config)}${tenant.caller.customerId}/${id}`);

describe('a job', () => {
  // Guards against: the list of a workspace with very many jobs, which held everybody else up for a second.
  test('is one of ten thousand', async () => {
    const many = await service.tenant('acc_many', 'internal');
    await service.runtime.db.rows(sql`
      insert into scheduled_jobs (customer_id, name, cron, agent_slug, brief, enabled)
      select ${many.caller.customerId}, 'job ' || n, '30 2 13 * 5', 'writer', 'Write.', true from generate_series(1, 10000) n`);
    const loop = watchOwnLoop();
    const list = async () => {
      const { body } = await many.cp('GET', '/v1/scheduled-jobs');
      expect(body.data.length).toBeGreaterThan(10_000);
    };
    expect(await findStalls(loop, [list], (some) => Promise.all(some.map((each) => each())))).toEqual([]);
    loop.stop();
    await service.runtime.db.rows(sql`delete from scheduled_jobs where customer_id = ${many.caller.customerId}`);
  });

  // Guards: the shapes of the answers, and that a tick becomes a run of the agent with the brief, whose answer has its schema.
  test('is made, listed and run', async () => {
    const output_schema = { type: 'object', properties: { title: { const: 'Morning' } }, required: ['title'] };
    const { status, body } = await create({ name: JOB.name, output_schema });
    expect(status).toBe(201);
    expect(body).toEqual({
      ok: true,
      id: expect.stringMatching(/^custom-\d+$/),
      ...JOB,
      enabled: true,
      model: 'auto',
      reasoning: null,
      output_schema,
      requires_scheduler_restart: false,
    });
    expect(await listed(body.id)).toEqual({
      id: body.id,
      kind: 'custom',
      agent: 'assistant',
      schedule: JOB.cron,
      enabled: true,
      next_run_at: expect.stringMatching(/T06:00:00.000Z$/),
      description: JOB.brief,
      brief: JOB.brief,
      name: JOB.name,
      model: 'auto',
      reasoning: null,
      output_schema,
    });
    await scheduleOf(body.id).trigger();
    const run = await eventually(async () => {
      const { body: runs } = await tenant.cp('GET', '/v1/runs');
      const [row] = runs.data.filter((each: { transport: string }) => each.transport === 'cron');
      expect(row).toBeDefined();
      return row;
    });
    expect(await tenant.waitForRun(run.run_id)).toMatchObject({
      status: 'succeeded',
      agent: 'assistant',
      output: expect.stringMatching(/"title": ?"Morning"/),
    });
  });

  // Guards: Temporal's schedule is what the row says.
  test('has a schedule that does not pile up after downtime', async () => {
    const { spec, policies, state } = await scheduleOf(await idOf()).describe();
    expect(spec.timezone).toBe('UTC');
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 365 * 24 * 3_600_000 });
    expect(state.paused).toBe(false);
  });

  // Guards: absent fields stay, null resets, and the schedule follows.
  test('is changed in part', async () => {
    const id = await idOf({ model: 'offline', reasoning: true });
    const path = `/v1/scheduled-jobs/${id}`;
    const { status, body } = await tenant.cp('PATCH', path, { enabled: false, model: null });
    expect(status).toBe(200);
    expect(body).toMatchObject({ enabled: false, next_run_at: null, model: 'auto', reasoning: true });
    expect((await scheduleOf(id).describe()).state.paused).toBe(true);
    await tenant.cp('PATCH', path, { enabled: true, cron: '*/5 * * * *', reasoning: null });
    expect(await listed(id)).toMatchObject({ enabled: true, schedule: '*/5 * * * *', reasoning: null });
    const { state, info } = await scheduleOf(id).describe();
    expect(state.paused).toBe(false);
    expect(info.nextActionTimes.every((time) => time.getUTCMinutes() % 5 === 0)).toBe(true);
  });

  // Guards: the runs of a job can read its files, which are deleted with it.
  test('has files that its runs read', async () => {
    const id = await idOf({ brief: '[[tool:read_attachment {"filename":"facts.txt"}]]' });
    const path = `/v1/scheduled-jobs/${id}/attachments`;
    const form = new FormData();
    form.append('files', new Blob(['The sky is green on Tuesdays.']), 'facts.txt');
    const { status, body } = await tenant.cp('POST', path, form);
    expect(status).toBe(201);
    expect((await tenant.cp('GET', path)).body).toEqual(body);
    await scheduleOf(id).trigger();
    await eventually(async () => {
      const { body: runs } = await tenant.cp('GET', '/v1/runs');
      const outputs = await Promise.all(
        runs.data.map(async ({ run_id }: { run_id: string }) => (await tenant.waitForRun(run_id)).output),
      );
      expect(outputs.join()).toContain('The sky is green on Tuesdays.');
    });
    await tenant.cp('DELETE', `/v1/scheduled-jobs/${id}`);
    expect((await tenant.cp('GET', `/v1/files/download?id=${body.data[0].id}`)).status).toBe(404);
    expect((await tenant.cp('GET', path)).status).toBe(404);
  });

  // Guards: uploads have limits, and one file too many refuses all of them.
  test('takes ten files of 25 MB together', async () => {
    const path = `/v1/scheduled-jobs/${await idOf()}/attachments`;
    const upload = (sizes: number[]) => {
      const form = new FormData();
      sizes.forEach((size, n) => form.append('files', new Blob([new Uint8Array(size)]), `${n}.bin`));
      return tenant.cp('POST', path, form);
    };
    const MB = 1024 * 1024;
    expect((await upload(new Array<number>(11).fill(1))).status).toBe(413);
    expect((await upload([20 * MB, 5 * MB + 1])).status).toBe(413);
    expect((await tenant.cp('GET', path)).body.meta.total).toBe(0);
    expect((await upload([...new Array<number>(9).fill(1), 25 * MB - 9])).status).toBe(201);
    expect((await tenant.cp('GET', path)).body.meta.total).toBe(10);
  });

  // Guards against: a tick that fails silently, or in a workflow that is retried for ever, and a job that is lost with
  // its agent.
  test('outlives its agent, and says what is missing', async () => {
    const agent = { slug: 'gone-agent', model: 'offline', prompt: 'You work.' };
    expect((await tenant.cp('POST', '/v1/agents', agent)).status).toBe(201);
    const id = await idOf({ agent_slug: agent.slug, brief: 'Say something.' });
    expect((await tenant.cp('DELETE', `/v1/agents/${agent.slug}?force=true`)).status).toBeLessThan(300);
    const runsOf = async (status: string) => {
      const { body } = await tenant.cp('GET', '/v1/runs');
      const found = body.data.filter((run: Run) => run.agent === agent.slug && run.last_status === status);
      return Promise.all(found.map(async ({ run_id }: Run) => (await tenant.api('GET', `/v1/runs/${run_id}`)).body));
    };
    await scheduleOf(id).trigger();
    await eventually(async () =>
      expect(await runsOf('failed')).toMatchObject([{ error: expect.stringContaining('"gone-agent" does not exist') }]),
    );
    expect(await listed(id)).toMatchObject({ agent: agent.slug, enabled: true });
    // An agent of that name may come again.
    expect((await tenant.cp('POST', '/v1/agents', agent)).status).toBe(201);
    await scheduleOf(id).trigger();
    await eventually(async () => expect(await runsOf('succeeded')).toHaveLength(1));
  });

  // Guards: nothing of a deleted job fires.
  test('is gone when it is deleted', async () => {
    const id = await idOf();
    expect((await tenant.cp('DELETE', `/v1/scheduled-jobs/${id}`)).status).toBe(204);
    expect((await tenant.cp('DELETE', `/v1/scheduled-jobs/${id}`)).status).toBe(404);
    await expect(scheduleOf(id).describe()).rejects.toBeInstanceOf(ScheduleNotFoundError);
  });

  // Guards: each fault is the promised 400 or 409, and leaves no row.
  test.each([
    [{ name: ' ' }, 'name required'],
    [{ brief: undefined }, 'brief required'],
    [{ agent_slug: '' }, 'agent_slug required'],
    [{ cron: null }, 'cron required'],
    [{ cron: '@daily' }, /^cron: must be five fields/],
    [{ cron: '0 0 31 2 *' }, 'cron: never comes'],
    [{ name: 'nul \u0000' }, /NUL/],
    [{ enabled: 'yes' }, /enabled/],
  ])('is refused with %j', async (more, detail) => {
    const answer = await create(more);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toEqual(typeof detail === 'string' ? detail : expect.stringMatching(detail));
  });

  // Guards: names are unique in a workspace, also for two simultaneous requests, and for a change.
  test('has a name of its own', async () => {
    const answers = await Promise.all([create({ name: 'Same' }), create({ name: 'Same' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const other = await idOf();
    expect((await tenant.cp('PATCH', `/v1/scheduled-jobs/${other}`, { name: 'Same' })).status).toBe(409);
  });

  // Guards: an empty change is refused with the fields that can be changed.
  test('is not changed by nothing', async () => {
    const { status, body } = await tenant.cp('PATCH', `/v1/scheduled-jobs/${await idOf()}`, {});
    expect([status, body.detail]).toEqual([400, expect.stringMatching(/^provide at least one of/)]);
  });
});

describe('housekeeping', () => {
  // Guards: a schedule that Temporal lost, or an operator changed by hand, becomes what the row says.
  test('makes and mends schedules', async () => {
    const [lost, paused] = [await idOf(), await idOf()];
    await scheduleOf(lost).delete();
    await scheduleOf(paused).pause('by hand');
    await eventually(async () => {
      expect((await scheduleOf(lost).describe()).state.note).toBe('revision 1');
      expect((await scheduleOf(paused).describe()).state.paused).toBe(false);
    });
  });

  // Guards: a change that is only in the row, because the process died before it told Temporal, is carried out.
  test('brings schedules to where their rows are', async () => {
    const id = await idOf();
    const change = { cron: '0 7 * * *', enabled: false };
    await service.services.stores.jobs.change(tenant.caller.customerId, Number(id.replace('custom-', '')), change);
    await eventually(async () => {
      const { state, spec } = await scheduleOf(id).describe();
      expect([state.paused, state.note]).toEqual([true, 'revision 2']);
      expect(spec.calendars?.map(({ hour }) => hour)).toEqual([[{ start: 7, end: 7, step: 1 }]]);
    });
  });

  // Guards: a schedule whose row is gone is removed.
  test('removes schedules without a row', async () => {
    const id = await idOf();
    await service.services.stores.jobs.delete(tenant.caller.customerId, Number(id.replace('custom-', '')));
    await eventually(() => expect(scheduleOf(id).describe()).rejects.toBeInstanceOf(ScheduleNotFoundError));
  });
});
