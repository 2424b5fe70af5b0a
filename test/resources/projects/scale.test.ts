/**
 * The largest project there may be: what it leaves in Temporal's histories, and how its record is read. Small, it has a
 * part of its phases and of what it may leave.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import type { Database } from '../../../src/platform/db/client.ts';
import { createEventStore } from '../../../src/resources/events/store.ts';
import { phaseWorkflowId, projectWorkflowId } from '../../../src/resources/projects/model.ts';
import { createProjectStore } from '../../../src/resources/projects/store/index.ts';
import { MAX_PHASES, MAX_STEPS } from '../../../src/resources/templates/model.ts';
import { PROJECT, type ProjectInput } from '../../../workflows/project/messages.ts';
import type { project } from '../../../workflows/project/workflow.ts';
import {
  agentStep,
  artifactsOf,
  attemptsOf,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  startProject,
  stepOf,
  tasksOf,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { sized, tried } from '../../support/runner/sizes.ts';

const PHASES = sized(30, MAX_PHASES);
const STEPS = sized(20, MAX_STEPS);

/** A quarter of what the server ends an execution at. */
const MAX_EVENTS = 51_200 / 4;
const MAX_BYTES = (50 * 1_024 * 1_024) / 4;
const partOf = (most: number, size: number, largest: number) => (most * size) / largest;
const PATIENCE_MS = 600_000;

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_acme');
});
afterAll(() => service?.close());

const describeWorkflow = (workflowId: string) =>
  service.runtime.temporal.client.workflow.getHandle(workflowId).describe();

/** Of the largest of these executions. */
async function historyOf(workflowIds: readonly string[]): Promise<{ events: number; bytes: number }> {
  const described = await Promise.all(workflowIds.map(describeWorkflow));
  return {
    events: Math.max(...described.map(({ historyLength }) => historyLength)),
    bytes: Math.max(...described.map(({ historySize }) => historySize ?? 0)),
  };
}

/** Runs of one workflow, as each continued as the next; the latest first. */
async function chainOf(workflowId: string): Promise<{ runId: string; events: number }[]> {
  const { client } = service.runtime.temporal;
  const chain = [];
  for (let runId: string | undefined = (await describeWorkflow(workflowId)).runId; runId;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    chain.push({ runId, events: present(events).length });
    runId = events![0]!.workflowExecutionStartedEventAttributes!.continuedExecutionRunId || undefined;
  }
  return chain;
}

describe('the largest project', () => {
  // Guards: the largest possible template runs to its end within Temporal's limits.
  test(
    'runs to its end',
    async () => {
      const LAYER = 10;
      const phases = [...Array(PHASES).keys()].map((at) =>
        phaseSpec(`phase-${at}`, [agentStep('write', { instructions: 'Write it.' })], {
          depends_on: at < LAYER ? [] : [`phase-${at - LAYER}`],
        }),
      );
      await makeTemplate(tenant, 'largest', phases);
      const id = await startProject(tenant, 'largest');
      await untilProject(tenant, id, 'completed', PATIENCE_MS);
      expect(new Set(Object.values(await phaseStatuses(tenant, id)))).toEqual(new Set(['succeeded']));
      expect(await artifactsOf(tenant, id)).toHaveLength(PHASES);
      const history = await historyOf([
        projectWorkflowId(id),
        ...phases.slice(0, LAYER).map(({ slug }) => phaseWorkflowId(id, slug, 1)),
      ]);
      expect(history.events).toBeLessThan(partOf(MAX_EVENTS, PHASES, MAX_PHASES));
      expect(history.bytes).toBeLessThan(partOf(MAX_BYTES, PHASES, MAX_PHASES));
      tried('phases of the largest project', PHASES);
    },
    PATIENCE_MS,
  );
});

describe('the widest phase', () => {
  // Guards: the widest possible phase runs all of its steps, and the last one sees all their outputs.
  test(
    'runs them at once',
    async () => {
      const wide = [...Array(STEPS - 1).keys()].map((at) => agentStep(`part-${at}`, { depends_on: [] }));
      const join = agentStep('join', { role: 'assembler', depends_on: wide.map(({ step_slug }) => step_slug) });
      await makeTemplate(tenant, 'wide', [phaseSpec('all', [...wide, join])]);
      const id = await startProject(tenant, 'wide');
      await untilProject(tenant, id, 'completed', PATIENCE_MS);
      const [{ n }] = (await service.runtime.db.rows<{ n: number }>(sql`
        select max(together)::int as n from (
          select (select count(*) from attempts b
            where b.project_id = a.project_id and b.started_at <= a.started_at and b.completed_at > a.started_at
          ) as together from attempts a where a.project_id = ${id}) counted`)) as [{ n: number }];
      expect(n).toBeGreaterThan(10);
      const history = await historyOf([phaseWorkflowId(id, 'all', 1)]);
      expect(history.events).toBeLessThan(partOf(MAX_EVENTS, STEPS, MAX_STEPS));
      expect(history.bytes).toBeLessThan(partOf(MAX_BYTES, STEPS, MAX_STEPS));
      tried('steps of the widest phase', STEPS);
    },
    PATIENCE_MS,
  );
});

/** Started anew by hand with an input that has it continue as new much sooner. */
async function startImpatient(slug: string, continueAfterEvents: number): Promise<string> {
  const { runtime, services } = service;
  const { client } = runtime.temporal;
  const id = await startProject(tenant, slug);
  const handle = client.workflow.getHandle(projectWorkflowId(id));
  const { taskQueue, typedSearchAttributes } = await handle.describe();
  await handle.terminate('to be started with another input');
  const input: ProjectInput = {
    ...present(await services.stores.projects.loadBoard(id)),
    limits: { maxTurns: 50, maxTokens: 1_000_000 },
    split: false,
    continueAfterEvents,
  };
  await client.workflow.start<typeof project>(PROJECT, {
    workflowId: projectWorkflowId(id),
    taskQueue,
    args: [input],
    typedSearchAttributes,
  });
  return id;
}

describe('a project that continues as new', () => {
  const GATED = ['left', 'middle', 'right'];
  const EVENTS = 60;

  // Guards: continuing as new is not noticed: waiting phases go on, commands before, during and after it are answered,
  // and nothing is lost.
  test(
    'takes the phases that are under way along',
    async () => {
      await makeTemplate(tenant, 'continued', [
        ...GATED.map((slug) => phaseSpec(slug, [agentStep('write'), gateStep('approve')])),
        phaseSpec('join', [agentStep('write', { role: 'assembler' })], { depends_on: GATED }),
      ]);
      const id = await startImpatient('continued', EVENTS);
      const post = (path: string, body?: unknown) => tenant.cp('POST', `/v1/projects/${id}/${path}`, body);
      const gates = await Promise.all(GATED.map((slug) => untilStep(tenant, id, slug, 'approve', 'blocked')));
      const approve = (at: number) => post(`subtasks/${itemAt(gates, at).id}/resolve-gate`, { decision: 'approved' });

      expect(await approve(0)).toMatchObject({ status: 200 });
      // Two at a time, so that one is always on its way when the other has filled the history.
      for (let i = 0; i < 10; i++) {
        const answers = await Promise.all([post('pause'), post('edit-sessions', { instruction: 'Change it' })]);
        expect(answers.map(({ status }) => status)).toEqual([200, 201]);
        expect(await post('resume')).toMatchObject({ status: 200 });
      }
      expect(await approve(1)).toMatchObject({ status: 200 });
      expect(await approve(1)).toMatchObject({ status: 409 });
      expect(await approve(2)).toMatchObject({ status: 200 });
      const sessions = (await tasksOf(tenant, id)).filter(({ task_kind }) => task_kind === 'edit_session');
      for (const { id: session, phase_slug } of sessions) {
        await untilStep(tenant, id, phase_slug, 'approve_plan', 'blocked');
        expect(await post(`edit-sessions/${session}/approve`, { decision: 'rejected' })).toMatchObject({ status: 200 });
      }
      await untilProject(tenant, id, 'completed', PATIENCE_MS);
      const statuses = await phaseStatuses(tenant, id);
      expect(Object.entries(statuses).filter(([, status]) => status === 'skipped')).toHaveLength(sessions.length);
      expect(statuses).toMatchObject({ left: 'succeeded', middle: 'succeeded', right: 'succeeded', join: 'succeeded' });
      const chain = await chainOf(projectWorkflowId(id));
      expect(chain.length).toBeGreaterThan(5);
      // The work that was under way was not begun anew.
      expect(await attemptsOf(tenant, id, (await stepOf(tenant, id, 'middle', 'write')).id)).toHaveLength(1);
    },
    PATIENCE_MS,
  );

  // Guards: a phase with many rounds of rework does not fill its history either.
  test(
    'as do its phases',
    async () => {
      const ROUNDS = 12;
      const gate = gateStep('approve', 'human', { on_reject: 'rework' });
      await makeTemplate(tenant, 'reworked', [phaseSpec('text', [agentStep('write'), gate])]);
      const id = await startImpatient('reworked', EVENTS);
      const { id: gateId } = await stepOf(tenant, id, 'text', 'approve');
      for (let round = 0; round <= ROUNDS; round++) {
        await untilStep(tenant, id, 'text', 'approve', 'blocked');
        const decision = round < ROUNDS ? 'rejected' : 'approved';
        const path = `/v1/projects/${id}/subtasks/${gateId}/resolve-gate`;
        expect(await tenant.cp('POST', path, { decision, comment: 'Once more' })).toMatchObject({ status: 200 });
      }
      await untilProject(tenant, id, 'completed', PATIENCE_MS);
      const step = await stepOf(tenant, id, 'text', 'write');
      const attempts = await attemptsOf(tenant, id, step.id);
      expect(attempts.map((attempt) => attempt.attempt_number)).toEqual([...attempts.keys()].map((n) => n + 1));
      // The first may have been at work when its project was started with another input.
      expect(attempts.map((attempt) => attempt.attempt_reason).filter((reason) => reason !== 'crash_recovery')).toEqual(
        [...Array(ROUNDS + 1).keys()].map((n) => (n === 0 ? 'initial' : 'manual_rework')),
      );
      const chain = await chainOf(phaseWorkflowId(id, 'text', 1));
      expect(chain.length).toBeGreaterThan(2);
      expect(Math.max(...chain.map(({ events }) => events))).toBeLessThan(3 * EVENTS);
    },
    PATIENCE_MS,
  );
});

describe('a long life', () => {
  const ATTEMPTS = 1_000;
  const EVENTS = 10_000;
  const OTHERS = 5;

  // Guards: the cost of reading a project depends on what is shown, not on the size of the table.
  test('is read by index', async () => {
    const { db } = service.runtime;
    await makeTemplate(tenant, 'long', [phaseSpec('text', [agentStep('write')])]);
    const ids = await Promise.all([...Array(3)].map(() => startProject(tenant, 'long')));
    for (const id of ids) await untilProject(tenant, id, 'completed', PATIENCE_MS);
    const [id] = ids as [string];
    // Of two others the same many times over: with nothing else there, the whole table would be what is asked for.
    for (const each of ids) {
      const times = each === id ? 1 : OTHERS;
      await db.rows(sql`
        insert into attempts (id, project_id, task_id, subtask_id, customer_id, attempt_number, attempt_reason, status,
          started_at, completed_at, output)
        select gen_random_uuid(), project_id, task_id, id, customer_id, n, 'manual_retry', 'succeeded', now(), now(), '"x"'
        from subtasks, generate_series(2, ${ATTEMPTS * times}::int) n where project_id = ${each}`);
      await db.rows(sql`
        insert into project_events (project_id, customer_id, ts, task_id, subtask_id, level, category, topic, actor_kind,
          payload)
        select project_id, customer_id, now() - n * interval '1 minute', task_id, id, 'info', 'subtask',
          'subtask_succeeded', 'system', '{}'
        from subtasks, generate_series(1, ${EVENTS * times}::int) n where project_id = ${each}`);
      await db.rows(sql`
        insert into artifacts (id, project_id, task_id, customer_id, phase_slug, version, schema_slug, content,
          produced_via, superseded)
        select gen_random_uuid(), project_id, id, customer_id, phase_slug, n, 'text', '"x"', 'manual_retry', true
        from tasks, generate_series(2, ${ATTEMPTS * times}::int) n where project_id = ${each}`);
    }
    await db.rows(sql`analyze`);

    const { customerId } = tenant.caller;
    const task = first(await tasksOf(tenant, id));
    const { id: subtaskId } = await stepOf(tenant, id, 'text', 'write');
    const reads = await statementsOf(async (recording) => {
      const [projects, events] = [createProjectStore(recording), createEventStore(recording)];
      const feed = { limit: 500, since_hours: 24 };
      const asked = [
        () => projects.findProject(customerId, id),
        () => projects.listTasks(customerId, id),
        () => projects.listSubtasks(customerId, task.id),
        () => projects.findSubtask(customerId, id, subtaskId),
        () => projects.listAttempts(customerId, subtaskId),
        () => projects.findLatestAttempt(customerId, subtaskId),
        () => projects.listArtifacts(customerId, id, true),
        () => projects.sumCost(customerId, id),
        () => events.listOfProject(customerId, id, 1_000),
        () => events.listOfSubtask(customerId, subtaskId, 2_000),
        () => events.listFeed(customerId, feed),
      ];
      // Without rows some do not come to their end; what they ask is all that counts.
      for (const ask of asked) await ask().catch(() => {});
    });
    expect(reads.length).toBeGreaterThanOrEqual(11);
    const plans = await Promise.all(reads.map(async (statement) => ({ statement, plan: await planOf(db, statement) })));
    const careless = plans.filter(({ plan }) => /Seq Scan on (project_events|attempts|artifacts)/.test(plan));
    expect(careless).toEqual([]);

    const { body } = await tenant.cp('GET', `/v1/projects/${id}/subtasks/${subtaskId}/attempts`);
    expect(body.data).toHaveLength(ATTEMPTS);
    const events = await tenant.cp('GET', `/v1/projects/${id}/events?limit=1000`);
    expect(events.body.data).toHaveLength(1_000);
  });
});

interface Statement {
  text: string;
  values: unknown[];
}

/** What is sent to a database that gives no rows. */
async function statementsOf(ask: (recording: Database) => Promise<void>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const client = {
    query({ text }: { text: string }, values: unknown[] = []) {
      statements.push({ text, values });
      return Promise.resolve({ rows: [] });
    },
  } as unknown as pg.Client;
  const orm = drizzle(client);
  await ask({
    orm: orm as never,
    rows: async (statement) => (await orm.execute(statement)).rows as never[],
    transaction: (work) => work(),
    outermostTransaction: (work) => work(),
    use: () => ({ used: 0, idle: 0, waiting: 0 }),
    close: () => Promise.resolve(),
  });
  return statements;
}

async function planOf(db: Database, { text, values }: Statement): Promise<string> {
  const parts = text.split(/\$(\d+)/);
  const statement = sql.join(
    parts.map((part, at) => (at % 2 === 0 ? sql.raw(part) : sql`${values[Number(part) - 1]}`)),
  );
  const lines = await db.rows<{ 'QUERY PLAN': string }>(sql`explain ${statement}`);
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}
