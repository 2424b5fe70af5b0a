/** Jobs that ship: what a workspace sees and may change of them, and what they do. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { ScheduleNotFoundError } from '@temporalio/client';
import { cronProblem } from '../../../src/platform/core/cron.ts';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import { builtinJobs } from '../../../src/resources/scheduled-jobs/builtin/index.ts';
import { readableCron } from '../../../src/resources/scheduled-jobs/model.ts';
import { jobPrefix } from '../../../src/resources/scheduled-jobs/triggers.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService({ env: { HOUSEKEEPING_INTERVAL: '1s' } });
  tenant = await service.tenant('acc_shipped');
});
afterAll(() => service.close());

const JOBS = '/v1/scheduled-jobs';
const change = (id: string, body: unknown, of = tenant) => of.cp('PATCH', `${JOBS}/${id}`, body);
const listed = async (id: string, of = tenant) =>
  (await of.cp('GET', JOBS)).body.data.find((row: { id: string }) => row.id === id);
const handleOf = (id: string, of = tenant) =>
  service.runtime.temporal.client.schedule.getHandle(
    `${jobPrefix(service.runtime.config)}${of.caller.customerId}/${id}`,
  );
const forAll = () =>
  service.runtime.temporal.client.schedule.getHandle(
    `${service.runtime.config.TASK_QUEUE_PREFIX}system-job/integration-health`,
  );
const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);

describe('the list', () => {
  // Guards: built-in jobs have their fields and none of those of custom jobs, and the total counts all.
  test('has the jobs that ship first', async () => {
    const fresh = await service.tenant('acc_fresh');
    await fresh.cp('POST', JOBS, { name: 'Own', cron: '0 6 1 1 *', agent_slug: 'assistant', brief: 'Hello' });
    const { body } = await fresh.cp('GET', JOBS);
    expect(body.data.slice(0, -1)).toEqual([
      {
        id: 'integration-health',
        kind: 'system',
        agent: null,
        enabled: true,
        schedule: 'every day at 03:00 UTC',
        next_run_at: expect.stringMatching(/T03:00:00.000Z$/),
        description: expect.stringMatching(/^[A-Z].*\.$/),
      },
      {
        id: 'daily-digest',
        kind: 'agent',
        agent: 'analyst',
        enabled: false,
        next_run_at: null,
        schedule: 'every day at 07:00 UTC',
        description: expect.any(String),
      },
      {
        id: 'memory-review',
        kind: 'agent',
        agent: 'assistant',
        enabled: false,
        next_run_at: null,
        schedule: 'every Monday at 06:00 UTC',
        description: expect.any(String),
      },
    ]);
    expect(body.data.at(-1)).toMatchObject({ kind: 'custom', name: 'Own' });
    expect(body.meta.total).toBe(4);
  });

  // Guards: each built-in job has a description and a time, and names an agent that exists.
  test.each([...builtinJobs.values()])('$id is well made', ({ id, description, cron, agent, kind, enabled }) => {
    expect(id).toMatch(/^[a-z]+(-[a-z]+)+$/);
    expect(description).toMatch(/^[A-Z][^\n]{10,199}\.$/);
    expect(cronProblem(cron)).toBeUndefined();
    expect(readableCron(cron)).toMatch(/^every .* UTC$/);
    expect(enabled).toBe(kind === 'system');
    if (agent !== null) expect([...builtinAgents.keys()]).toContain(agent);
  });

  // Guards: a built-in schedule is described in words only where the words are true.
  test.each([
    ['5 * * * *', 'every hour at minute 5'],
    ['5 4 * * *', 'every day at 04:05 UTC'],
    ['0 23 * * 0', 'every Sunday at 23:00 UTC'],
    ['0 6 1 * *', '0 6 1 * *'],
    ['*/5 * * * *', '*/5 * * * *'],
    ['0 6 * * 1-5', '0 6 * * 1-5'],
  ])('%s is %s', (cron, words) => expect(readableCron(cron)).toBe(words));
});

describe('a change', () => {
  // Guards: a workspace can switch a built-in job and change its time; its schedule in Temporal follows, and absent
  // fields stay.
  test('is of one workspace, and is followed', async () => {
    const other = await service.tenant('acc_unchanged');
    const { status, body } = await change('daily-digest', { enabled: true });
    expect(status).toBe(200);
    expect(body).toEqual(await listed('daily-digest'));
    expect(body).toMatchObject({ enabled: true, schedule: 'every day at 07:00 UTC' });
    expect(body.next_run_at).toMatch(/T07:00:00.000Z$/);
    expect((await change('daily-digest', { cron: '30 5 * * 1-5' })).status).toBe(200);
    expect(await listed('daily-digest')).toMatchObject({ enabled: true, schedule: '30 5 * * 1-5' });
    const { state, info } = await handleOf('daily-digest').describe();
    expect([state.paused, state.note]).toEqual([false, 'revision 2']);
    expect(info.nextActionTimes.every((at) => at.getUTCHours() === 5 && at.getUTCMinutes() === 30)).toBe(true);
    expect(await listed('daily-digest', other)).toMatchObject({ enabled: false, schedule: 'every day at 07:00 UTC' });
    expect((await change('daily-digest', { enabled: false })).body).toMatchObject({
      enabled: false,
      next_run_at: null,
    });
    expect((await handleOf('daily-digest').describe()).state.paused).toBe(true);
  });

  // Guards: other fields of built-in jobs cannot be changed, and each refusal has the status and message of the
  // specification.
  test.each([
    ['PATCH', '', { brief: 'x' }, /only enabled and cron/],
    ['PATCH', '', { name: 'x', enabled: true }, /only enabled and cron/],
    ['PATCH', '', { model: null }, /only enabled and cron/],
    ['PATCH', '', { reasoning: true }, /only enabled and cron/],
    ['PATCH', '', {}, /^provide at least one of enabled, cron/],
    ['PATCH', '', undefined, /^provide at least one of/],
    ['PATCH', '', { cron: '@daily' }, /^cron: must be five fields/],
    ['PATCH', '', { cron: null }, /cron/],
    ['DELETE', '', undefined, /cannot be deleted/],
    ['GET', '/attachments', undefined, /no files/],
    ['POST', '/attachments', { a: 1 }, /no files/],
  ])('%s%s with %j is refused', async (method, more, body, detail) => {
    for (const id of ['integration-health', 'memory-review']) {
      const answer = await tenant.cp(method, `${JOBS}/${id}${more}`, body);
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
    }
    expect(await listed('memory-review')).toMatchObject({ enabled: false, schedule: 'every Monday at 06:00 UTC' });
  });

  // Guards: an unknown id is unknown, even one that looks like a built-in job's.
  test('of an unknown job is refused', async () => {
    for (const id of ['integration', 'constructor', 'Daily-digest']) {
      expect((await change(id, { enabled: true })).status).toBe(404);
    }
  });

  // Guards: a 502 has changed nothing, the first time and later.
  test('that Temporal cannot follow is taken back', async () => {
    const { overrides, restore } = storeOf();
    const { customerId } = (await service.tenant('acc_undone')).caller;
    const first = await overrides.change(customerId, 'daily-digest', { enabled: true });
    await restore(first);
    expect(await overrides.list(customerId)).toEqual([]);
    await overrides.change(customerId, 'daily-digest', { cron: '1 1 * * *' });
    await restore(await overrides.change(customerId, 'daily-digest', { cron: '2 2 * * *', enabled: true }));
    expect(await overrides.find(customerId, 'daily-digest')).toMatchObject({ cron: '1 1 * * *', enabled: null });
    const overtaken = await overrides.change(customerId, 'daily-digest', { enabled: false });
    await overrides.change(customerId, 'daily-digest', { enabled: true });
    await restore(overtaken);
    expect(await overrides.find(customerId, 'daily-digest')).toMatchObject({ enabled: true });
  });
});

function storeOf() {
  const { overrides } = service.services.stores;
  type Change = Awaited<ReturnType<typeof overrides.change>>;
  return { overrides, restore: ({ before, after }: Change) => overrides.restore(after, before) };
}

describe('a job of an agent', () => {
  // Guards: a tick starts a run of the agent by cron, whose prompt has the events of this workspace and of no other.
  test('runs with what there is to tell', async () => {
    const [mine, other] = [await service.tenant('acc_digest'), await service.tenant('acc_digest-other')];
    for (const [of, error] of [
      [mine, 'MINE-BROKE'],
      [other, 'OTHER-BROKE'],
    ] as const) {
      const { body } = await of.api('POST', '/v1/runs', { agent: 'writer', prompt: 'Hello' });
      await of.waitForRun(body.run_id);
      await rows(sql`update runs set status = 'failed', error = ${error}, created_at = now() - interval '1 day'
        where id = ${body.run_id}`);
    }
    await change('daily-digest', { enabled: true }, mine);
    await handleOf('daily-digest', mine).trigger();
    const run = await eventually(async () => {
      const [row] = (await mine.cp('GET', '/v1/runs?transport=cron')).body.data;
      expect(row).toBeDefined();
      return row;
    });
    expect(await mine.waitForRun(run.run_id)).toMatchObject({ status: 'succeeded', agent: 'analyst' });
    const [{ prompt } = { prompt: '' }] = await rows<{ prompt: string }>(
      sql`select prompt from runs where id = ${run.run_id}`,
    );
    expect(prompt).toContain('"agent":"writer","runs":1,"succeeded":0,"failed":1');
    expect(prompt).toContain('MINE-BROKE');
    expect(prompt).not.toContain('OTHER-BROKE');
  });

  // Guards: the review gets the memories that are due for it, and gets none where it is switched off.
  test('reviews what nobody has confirmed', async () => {
    const { body: old } = await tenant.cp('POST', '/v1/memory/entries', { type: 'note', content: 'The office moves.' });
    await tenant.cp('POST', '/v1/memory/entries', { type: 'note', content: 'Said just now.' });
    await rows(sql`update memory_entries set created_at = now() - interval '40 days' where id = ${old.id}`);
    const { customerId } = tenant.caller;
    expect(await service.services.builtinJobs.dueRun(customerId, 'memory-review')).toBeUndefined();
    await change('memory-review', { enabled: true });
    const due = await service.services.builtinJobs.dueRun(customerId, 'memory-review');
    expect(due).toMatchObject({ agent: 'assistant', prompt: expect.stringContaining('The office moves.') });
    expect(present(due).prompt).not.toContain('Said just now.');
  });
});

describe('a job of the service', () => {
  const healthy = async (of: Tenant) => {
    const token = { slug: 'notion', kind: 'token', scope: 'shared' };
    await rows(sql`insert into integration_credentials (customer_id, slug, kind, scope, token_id, sealed, health, check_at)
      values (${of.caller.customerId}, ${token.slug}, ${token.kind}, ${token.scope}, gen_random_uuid(), 'x', 'ok',
        now() + interval '100 years')`);
  };
  const isDue = async (of: Tenant) => {
    const row = itemAt(
      await rows<{ due: boolean }>(sql`select check_at < now() + interval '99 years' as due
      from integration_credentials where customer_id = ${of.caller.customerId}`),
      0,
    );
    return row.due;
  };

  // Guards: one schedule serves all workspaces except those with a time of their own, which can switch theirs off, and
  // archived ones.
  test('is done for every workspace that has not changed it', async () => {
    const [as, off, archived, own] = await Promise.all(
      ['as-it-ships', 'switched-off', 'archived', 'own-time'].map((name) => service.tenant(`acc_${name}`)),
    );
    for (const each of [present(as), present(off), present(archived), present(own)]) await healthy(each);
    await change('integration-health', { enabled: false }, off);
    await change('integration-health', { cron: '0 1 1 1 *' }, own);
    await rows(sql`update workspaces set status = 'archived', archived_at = now()
      where customer_id = ${present(archived).caller.customerId}`);
    await forAll().trigger();
    await eventually(async () => expect(await isDue(present(as))).toBe(true));
    expect([await isDue(present(off)), await isDue(present(archived)), await isDue(present(own))]).toEqual([
      false,
      false,
      false,
    ]);
    await handleOf('integration-health', own).trigger();
    await eventually(async () => expect(await isDue(present(own))).toBe(true));
    // Not even when somebody asks for it: the schedule of what is off starts nothing that does anything.
    await service.services.builtinJobs.runFor(present(off).caller.customerId, 'integration-health');
    expect(await isDue(present(off))).toBe(false);
  });

  // Guards: after downtime a job runs once and not once for each missed time, and never twice at the same time.
  test('has a schedule that does not pile up', async () => {
    const { policies, spec } = await forAll().describe();
    expect(spec.timezone).toBe('UTC');
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 365 * 24 * 3_600_000 });
  });

  // Guards: each of many workspaces gets its turn, and one that fails takes it from nobody.
  test('goes through them page by page', async () => {
    await rows(sql`insert into workspaces (identity_workspace_id, customer_id, plan, status)
      select 'acc_page' || n, 'page' || lpad(n::text, 5, '0'), 'free', 'ready' from generate_series(1, 1200) n`);
    const seen: string[] = [];
    const job = present(builtinJobs.get('integration-health'));
    if (job.kind !== 'system') throw new Error('is no job of the service');
    const { run } = job;
    job.run = async (_, customerId) => {
      seen.push(customerId);
      if (customerId === 'page00007') throw new Problem('not_found');
    };
    try {
      let pages = 0;
      for (let after: string | undefined = ''; after !== undefined; pages++) {
        after = await service.services.builtinJobs.runPage(job.id, after, new AbortController().signal);
      }
      expect(pages).toBe(3);
    } finally {
      job.run = run;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((customerId) => customerId.startsWith('page'))).toHaveLength(1_200);
  });
});

describe('housekeeping', () => {
  // Guards: schedules that Temporal lost, an operator changed by hand, or no row asks for, become what the rows say.
  test('makes, mends and removes schedules', async () => {
    const [lost, paused, stray] = await Promise.all(
      ['lost', 'paused', 'stray'].map((name) => service.tenant(`acc_drift-${name}`)),
    );
    for (const each of [present(lost), present(paused), present(stray)])
      await change('daily-digest', { enabled: true }, each);
    await handleOf('daily-digest', lost).delete();
    await handleOf('daily-digest', paused).pause('by hand');
    await rows(sql`delete from job_overrides where customer_id = ${present(stray).caller.customerId}`);
    // Of the many workspaces here, these have waited longest.
    const waited = () =>
      rows(sql`update workspaces set schedules_checked_at = '2026-01-01' where customer_id like 'drift-%'`);
    await eventually(async () => {
      await waited();
      expect((await handleOf('daily-digest', lost).describe()).state.note).toBe('revision 1');
      expect((await handleOf('daily-digest', paused).describe()).state.paused).toBe(false);
      await expect(handleOf('daily-digest', stray).describe()).rejects.toBeInstanceOf(ScheduleNotFoundError);
    });
    // The row alone, as if the process had died before Temporal heard of it.
    await rows(sql`update job_overrides set enabled = false, revision = revision + 1
      where customer_id = ${present(lost).caller.customerId}`);
    await eventually(async () => {
      await waited();
      expect((await handleOf('daily-digest', lost).describe()).state.paused).toBe(true);
    });
  });
});
