/**
 * What work takes that does not depend on the machine: statements, which are trips to the database, and events in histories of
 * Temporal. A number that changes is changed here too, so that whoever changes it sees what they have added.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, present } from '../../src/platform/core/present.ts';
import { queueName } from '../../src/platform/temporal/task-queues.ts';
import { HOUSEKEEPER, type HousekeeperInput } from '../../workflows/housekeeper/messages.ts';
import { recordStatements, type Statement } from '../support/database/statements.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec, startProject } from '../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let receiver: WebhookReceiver;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({
    env: { HOUSEKEEPING_INTERVAL: '1h', EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true' },
  });
  acme = await service.tenant('acc_price');
  // What is asked once and remembered is asked now.
  await acme.run({ agent: 'assistant', prompt: 'Say something.' });
  await makeTemplate(acme, 'priced', [
    phaseSpec('draft', [agentStep('write'), agentStep('check')]),
    phaseSpec('release', [gateStep('approve'), agentStep('publish')], { depends_on: ['draft'] }),
  ]);
  await project();
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** Marks what the test asks itself. */
const LOOK = '/* a look of the test */';
const isOfService = ({ text }: Statement): boolean => !text.includes(LOOK);
/** What happens beside, such as a round of housekeeping, only ever adds: of several times the least counts. */
const TIMES = 4;

/** @returns how many statements each part of the work takes, the least of several times, and what the work gave the last time */
async function least<T>(
  parts: (count: (part: () => Promise<unknown>) => Promise<number>) => Promise<[T, number[]]>,
): Promise<[T, number[]]> {
  const count = async (part: () => Promise<unknown>) => (await recordStatements(part)).filter(isOfService).length;
  let [made, counts] = await parts(count);
  for (let time = 1; time < TIMES; time++) {
    const [again, more] = await parts(count);
    made = again;
    counts = counts.map((n, i) => Math.min(n, more[i] ?? n));
  }
  return [made, counts];
}

const handle = (workflowId: string) => service.runtime.temporal.client.workflow.getHandle(workflowId);
const ended = (workflowId: string) => handle(workflowId).result();

/** What a history has besides its workflow tasks, of which there are more or fewer with what comes at once. */
async function historyOf(workflowId: string): Promise<Record<string, number>> {
  const { events } = await handle(workflowId).fetchHistory();
  const counts: Record<string, number> = {};
  for (const event of present(events)) {
    // Each has the attributes of its kind, and no others.
    const [kind = ''] = Object.keys(event).filter((name) => name.endsWith('EventAttributes'));
    if (kind.startsWith('workflowTask')) continue;
    const name = kind.replace('EventAttributes', '');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Whether whoever started it got its first task with the answer, and not by way of a queue, and has done it. */
async function isStartedEagerly(workflowId: string): Promise<boolean> {
  const events = present((await handle(workflowId).fetchHistory()).events);
  // A task that the connection did not hand to its worker is lost, and the workflow stands still for ten seconds.
  const isLost = events.some((event) => event.workflowTaskTimedOutEventAttributes);
  return !isLost && first(events).workflowExecutionStartedEventAttributes?.eagerExecutionAccepted === true;
}

const ONE_ACTIVITY = {
  activityTaskCompleted: 1,
  activityTaskScheduled: 1,
  activityTaskStarted: 1,
  workflowExecutionCompleted: 1,
  workflowExecutionStarted: 1,
};

async function dispatch(): Promise<string> {
  const { body } = await acme.api('POST', '/v1/runs', { agent: 'assistant', prompt: 'Say something.' });
  return body.run_id;
}

// Guards: accepting a run is two statements, the key and the row; doing it is three, and one activity, without a round trip to
// begin.
test('a run', async () => {
  const [run, counts] = await least(async (count) => {
    let id = '';
    const accepting = await count(async () => (id = await dispatch()));
    return [id, [accepting, await count(() => ended(`run-${id}`))]];
  });
  expect(counts).toEqual([2, 3]);
  expect(await historyOf(`run-${run}`)).toEqual(ONE_ACTIVITY);
  expect(await isStartedEagerly(`run-${run}`)).toBe(true);
});

/** Runs a project to its gate, approves it, and waits for its end. @returns its id */
async function project(): Promise<string> {
  const id = await startProject(acme, 'priced');
  const wait = await eventually(async () => {
    const [one] = await service.runtime.db.rows<{ id: string }>(
      sql`select ${sql.raw(LOOK)} id from waits where project_id = ${id} and settled_at is null and kind = 'gate'`,
    );
    return present(one).id;
  });
  await acme.cp('POST', `/v1/inbox/${wait}/answer`, { answer: 'approve', revision: 1 });
  await ended(`project-${id}`);
  return id;
}

// Guards: the same of a project: three runs and a gate in two phases, from the request to the end, with its answer.
test('a project of two phases, three steps and a gate', async () => {
  const [id, counts] = await least(async (count) => {
    let made = '';
    const all = await count(async () => (made = await project()));
    return [made, [all]];
  });
  expect(counts).toEqual([68]);
  expect(await isStartedEagerly(`project-${id}`)).toBe(true);
  expect(await historyOf(`project-${id}`)).toEqual({
    childWorkflowExecutionCompleted: 2,
    childWorkflowExecutionStarted: 2,
    externalWorkflowExecutionSignaled: 1,
    markerRecorded: 3,
    signalExternalWorkflowExecutionInitiated: 1,
    startChildWorkflowExecutionInitiated: 2,
    workflowExecutionCompleted: 1,
    workflowExecutionSignaled: 1,
    workflowExecutionStarted: 1,
    workflowExecutionUpdateAccepted: 1,
    workflowExecutionUpdateCompleted: 1,
  });
  expect(await historyOf(`project-${id}/draft/1`)).toEqual({
    childWorkflowExecutionCompleted: 2,
    childWorkflowExecutionStarted: 2,
    markerRecorded: 3,
    startChildWorkflowExecutionInitiated: 2,
    workflowExecutionCompleted: 1,
    workflowExecutionStarted: 1,
  });
  expect(await historyOf(`project-${id}/release/1`)).toEqual({
    childWorkflowExecutionCompleted: 1,
    childWorkflowExecutionStarted: 1,
    externalWorkflowExecutionSignaled: 1,
    markerRecorded: 3,
    signalExternalWorkflowExecutionInitiated: 1,
    startChildWorkflowExecutionInitiated: 1,
    workflowExecutionCompleted: 1,
    workflowExecutionSignaled: 1,
    workflowExecutionStarted: 1,
  });
});

// Guards: a project grows with its steps by this much each: three statements of the run, six of the phase.
test('one step more', async () => {
  const steps = ['write', 'check', 'polish'].map((slug) => agentStep(slug));
  await makeTemplate(acme, 'two-steps', [phaseSpec('text', steps.slice(0, 2))]);
  await makeTemplate(acme, 'three-steps', [phaseSpec('text', steps)]);
  const toItsEnd = async (slug: string) => ended(`project-${await startProject(acme, slug)}`);
  const [, [two = 0, three = 0]] = await least(async (count) => [
    undefined,
    [await count(() => toItsEnd('two-steps')), await count(() => toItsEnd('three-steps'))],
  ]);
  expect(three - two).toBe(9);
});

// Guards: an event that somebody is told of costs the run that it is of no statement until it has ended.
test('a webhook', async () => {
  await acme.api('POST', '/v1/webhooks', { url: receiver.url, events: ['run.succeeded'] });
  const [delivery, counts] = await least(async (count) => {
    let run = '';
    let made = '';
    const accepting = await count(async () => (run = await dispatch()));
    const all = await count(async () => {
      await ended(`run-${run}`);
      made = await eventually(async () => {
        const [one] = await service.runtime.db.rows<{ id: string }>(sql`
          select ${sql.raw(LOOK)} id from webhook_deliveries where event_key like ${`%${run}%`} and status = 'delivered'`);
        return present(one).id;
      });
      await ended(`webhook-${made}`);
    });
    return [made, [accepting, all]];
  });
  expect(counts).toEqual([2, 16]);
  expect(await historyOf(`webhook-${delivery}`)).toEqual(ONE_ACTIVITY);
});

const HOUR_MS = 3_600_000;

/** Housekeeping has one round, and is ended. */
async function quietRound(workflowId: string): Promise<void> {
  const { workflow } = service.runtime.temporal.client;
  const rhythm = { choresMs: HOUR_MS, credentialsMs: HOUR_MS, isMetered: false };
  const dueInMs = { checkCredentials: HOUR_MS, enforceRetention: HOUR_MS };
  const args: [HousekeeperInput] = [{ rhythm, dueInMs }];
  const taskQueue = queueName(service.runtime.config, 'orchestration');
  await workflow.start(HOUSEKEEPER, { workflowId, taskQueue, args });
  await eventually(async () => expect(await historyOf(workflowId)).toMatchObject({ activityTaskCompleted: 1 }));
  await handle(workflowId).terminate();
}

// Guards: what a service without work does each quarter of a minute: one activity, whatever the number of chores.
test('a round of housekeeping that finds nothing to do', async () => {
  let rounds = 0;
  const [name, counts] = await least(async (count) => {
    const workflowId = `${service.runtime.config.TASK_QUEUE_PREFIX}quiet-${rounds++}`;
    return [workflowId, [await count(() => quietRound(workflowId))]];
  });
  // And three for each workspace whose schedules have their turn.
  expect(counts).toEqual([22]);
  expect(await historyOf(name)).toEqual({
    activityTaskCompleted: 1,
    activityTaskScheduled: 1,
    activityTaskStarted: 1,
    timerStarted: 1,
    workflowExecutionStarted: 1,
    workflowExecutionTerminated: 1,
  });
});
