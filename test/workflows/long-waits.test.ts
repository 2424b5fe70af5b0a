/**
 * Sixty days of waiting, for everything that a workflow can wait for: nothing wakes without need, no history grows, the
 * worker is killed in the middle, and in the end everything goes on. A day takes a second (`support/temporal/scaled-time.ts`);
 * where a workflow looks for itself its timers are counted instead, as a look takes the time that it takes.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isGrpcServiceError, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { sql } from 'drizzle-orm';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeSession } from '../../src/embedded/credentials.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { present } from '../../src/platform/core/present.ts';
import { standingIn } from '../../src/platform/core/rights.ts';
import type { Temporal } from '../../src/platform/temporal/client.ts';
import { connectTo } from '../support/temporal/temporal.ts';
import { HOUSEKEEPER } from '../../workflows/housekeeper/messages.ts';
import * as workflows from '../../workflows/index.ts';
import { startExternalProvisioner, type ExternalProvisioner } from '../resources/workspaces/provisioner.ts';
import { MAX_ATTEMPTS } from '../../src/resources/webhook-subscriptions/model.ts';
import { PARTS, prepareProcesses, type Processes } from '../support/processes/processes.ts';
import { DAY_MS, SCALED_DAY_MS } from '../support/temporal/scaled-time.ts';
import { eventually, tenantOf, TEST_SECRETS } from '../support/service/service.ts';
import type { Part } from '../support/processes/service-process.ts';
import { sized, tried } from '../support/runner/sizes.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { bundleHurriedWorkflows, bundleWorkflows } from '../support/temporal/workflow-bundle.ts';
import { ANSWER_DAYS, SCENES, type Stage, type Waiting } from './long-waits/scenes.ts';
import { PLACES, WAITS, type SceneName } from './long-waits/waits.ts';

const DAYS = sized(1, 60);
/** Of gRPC. */
const NOT_FOUND = 5;
type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** Of one execution. */
const MOST_EVENTS = 2_000;
/** A workflow that looks for itself does so every ten minutes, and sooner when a history begins. */
const MOST_LOOKS_A_DAY = 165;
/** Of which the second half is for the looks of a conversation, each of which takes some hundredths of a second. */
const PATIENCE_MS = sized(120_000, 50 * 60_000);
/** Beside the waits, all of it that it may take until they begin; in small nobody waits, as a look is all it consists of. */
const FULL_MS = sized(0, DAYS * SCALED_DAY_MS + 40_000);
const WORKER: Part = PARTS.includes('worker') ? 'worker' : 'service';

let processes: Processes;
let temporal: Temporal;
let receiver: WebhookReceiver;
let provisioner: ExternalProvisioner;
/** The receiver by another name, whose places are held as if by deliveries whose worker died. */
let fullHost: string;
const waiting = new Map<SceneName, Waiting>();
const all = (): Waiting[] => [...waiting.values()];
/** Events of the workflows that have nothing to do: when their waits had begun, and those that came since. */
const begun = new Map<string, number>();
const since = new Map<string, HistoryEvent[]>();
let looked: Looks;
/** Every execution that there was, with its history. */
const executions: { type: string; workflowId: string; history: History }[] = [];
/** When a question was seen first. */
const asked = new Map<string, number>();

const handleOf = (workflowId: string, runId?: string) => temporal.client.workflow.getHandle(workflowId, runId);
const eventsOf = async (workflowId: string) => present((await handleOf(workflowId).fetchHistory()).events);

interface Looks {
  /** What the timers of a workflow come to that have run out. */
  days: number;
  looks: number;
}
const NONE: Looks = { days: 0, looks: 0 };
const sum = (a: Looks, b: Looks): Looks => ({ days: a.days + b.days, looks: a.looks + b.looks });

function looksIn(events: readonly HistoryEvent[]): Looks {
  const timers = new Map(events.map((event) => [String(event.eventId), event.timerStartedEventAttributes]));
  return events
    .flatMap(({ timerFiredEventAttributes: fired }) => (fired ? present(timers.get(String(fired.startedEventId))) : []))
    .map(
      ({ startToFireTimeout }) =>
        Number(present(startToFireTimeout).seconds) * 1_000 + present(present(startToFireTimeout).nanos) / 1e6,
    )
    .map((ms): Looks => ({ days: ms / SCALED_DAY_MS, looks: 1 }))
    .reduce(sum, NONE);
}

/** Of executions that are over. */
const counted = new Map<string, Looks>();
/** Over all executions of a workflow. */
async function countLooks(workflowId: string): Promise<Looks> {
  let total = NONE;
  for await (const { runId, status } of temporal.client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
    let looks = counted.get(runId);
    if (!looks) {
      const { events } = await handleOf(workflowId, runId).fetchHistory();
      if (present(events).length >= MOST_EVENTS) throw new Error(`${workflowId} has ${present(events).length} events`);
      looks = looksIn(present(events));
      if (status.name !== 'RUNNING') counted.set(runId, looks);
    }
    total = sum(total, looks);
  }
  return total;
}

/** A person who takes some days for each answer. */
async function answerQuestions(tenant: Stage['tenant'], runIds: ReadonlySet<string>): Promise<void> {
  for (const runId of runIds) {
    const { body } = await tenant.cp('GET', `/v1/runs/${runId}/events?limit=2000`);
    for (const { payload } of body.data as { payload: { url?: string } }[]) {
      if (!payload.url) continue;
      const since = asked.get(payload.url) ?? Date.now();
      asked.set(payload.url, since);
      if (Date.now() - since < Math.min(ANSWER_DAYS, DAYS) * SCALED_DAY_MS) continue;
      // One that was answered, or has waited in vain, takes no more.
      await fetch(processes.url + new URL(payload.url).pathname, { method: 'POST', body: '{"answer":"Yes"}' });
    }
  }
}

const attempts = new Map<string, number>();
/** Of a delivery, which its data is known by; when it was sent is beside them. */
function attemptOf(path: string, body: string): number {
  const delivery = path + JSON.stringify((JSON.parse(body) as { data: unknown }).data);
  const attempt = (attempts.get(delivery) ?? 0) + 1;
  attempts.set(delivery, attempt);
  return attempt;
}

async function play(): Promise<void> {
  const session = makeSession(TEST_SECRETS.SESSION_SECRET, { ttlMs: DAY_MS });
  const caller = { workspaceId: 'acc_internal', customerId: 'internal', actor: 'owner@localhost' };
  const standing = standingIn(caller.workspaceId, 'owner', { isStamped: true });
  const tenant = tenantOf(processes.url, { ...caller, standing }, processes.apiKey, session);
  const askers = new Set<string>();
  const answerFor = (runId: string) => void askers.add(runId);
  const stage: Stage = { tenant, client: temporal.client, receiver, fullHost, provisioner, days: DAYS, answerFor };
  await Promise.all(
    Object.entries(SCENES).map(async ([name, begin]) => void waiting.set(name as SceneName, await begin(stage))),
  );

  const idle = all().flatMap(({ quiet = [], quietUntil = {} }) => [...quiet, ...Object.keys(quietUntil)]);
  for (const id of idle) {
    await eventually(async () => {
      const { raw } = await handleOf(id).describe();
      if (raw.pendingWorkflowTask) throw new Error(`${id} is at work`);
    });
    begun.set(id, (await eventsOf(id)).length);
  }

  await processes.stop('SIGKILL', [WORKER]);
  await processes.start();
  const begunAt = Date.now();
  const { looking } = present(waiting.get('conversation'));
  for (;;) {
    await answerQuestions(tenant, askers);
    looked = await countLooks(present(looking));
    const tookMs = Date.now() - begunAt;
    if (tookMs > DAYS * SCALED_DAY_MS && looked.days > DAYS) break;
    if (tookMs > PATIENCE_MS) throw new Error(`${looked.days} days in ${tookMs} ms`);
    await sleep(500);
  }
  for (const [id, count] of begun) since.set(id, (await eventsOf(id)).slice(count));

  await Promise.all(all().map(({ goOn }) => goOn()));
  await Promise.all(all().map(({ ended }) => ended()));
  for await (const { type, workflowId, runId, status } of temporal.client.workflow.list()) {
    if (status.name === 'RUNNING') continue;
    const history = await handleOf(workflowId, runId)
      .fetchHistory()
      .catch((error: unknown) => {
        // Housekeeping deletes its own executions, and one can go between the list and the look.
        if (type === HOUSEKEEPER && isGrpcServiceError(error) && error.code === NOT_FOUND) return undefined;
        throw error;
      });
    if (history) executions.push({ type, workflowId, history });
  }
}

beforeAll(async () => {
  [receiver, provisioner] = await Promise.all([
    // The last attempt but one is taken, as one may be killed with its worker.
    startWebhookReceiver(({ path, body }) =>
      path === '/lost' ? 'reset' : path === '/full' || attemptOf(path, body) >= MAX_ATTEMPTS - 1 ? 200 : 503,
    ),
    startExternalProvisioner(),
  ]);
  fullHost = receiver.hostAndPort.replace('127.0.0.1', 'localhost');
  processes = await prepareProcesses(
    {
      EGRESS_ALLOWLIST: `${receiver.hostAndPort},${fullHost}`,

      HOUSEKEEPING_INTERVAL: sized('1d', '5d'),
      INTEGRATION_HEALTH_INTERVAL: '5d',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_RETRY_INITIAL: '1h',
      PROVISIONER_URL: provisioner.url,
      PROVISIONER_POLL: '200ms',
      PROVISIONER_ATTEMPTS: '20',
      PROVISIONING_TIMEOUT: `${DAYS + 30}d`,
      MODEL_TIMEOUT: '2h',
    },
    bundleHurriedWorkflows,
  );
  await processes.withDatabase((db) =>
    db.rows(sql`
      insert into delivery_slots (host, n, holder, customer_id, held_until)
      select ${fullHost}, n, 'gone', 'internal', now() + ${FULL_MS} * interval '1 ms' from generate_series(1, 20) n`),
  );
  await processes.start();
  temporal = await connectTo(processes.temporalAddress, createLog({ level: 'error', pretty: false }));
  await play();
}, 2 * PATIENCE_MS);
afterAll(async () => {
  await temporal?.close();
  await processes?.close();
  await Promise.all([receiver, provisioner].map((each) => each?.close()));
});

// Guards: a new workflow, or a new place where one waits, has a scene that shows how it waits for long.
test('every wait has its scene', () => {
  expect(Object.keys(WAITS).sort()).toEqual(Object.keys(workflows).sort());
  const found = readdirSync(WORKFLOWS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, placesIn(readFileSync(WORKFLOWS + file, 'utf8'))] as const)
    .filter(([, places]) => places.length > 0);
  const known = Object.entries(PLACES).map(([file, places]) => [file, Object.keys(places).sort()]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(known));
  const named = [...Object.values(WAITS), ...Object.values(PLACES).flatMap((places) => Object.values(places))];
  const shown = new Set(named.flatMap((scenes) => (typeof scenes === 'string' ? [] : scenes)));
  expect([...shown].sort()).toEqual(Object.keys(SCENES).sort());
});

const WORKFLOWS = fileURLToPath(new URL('../../workflows/', import.meta.url));

/** Calls with which a workflow waits, to where their parentheses close or the line ends. */
function placesIn(code: string): string[] {
  const calls = [...code.matchAll(/\b(?:condition|sleep|executeChild|\w+\.result)\(/g)].map(({ index, 0: opening }) => {
    let end = index + opening.length;
    for (let depth = 1; depth > 0 && code[end] !== '\n'; end++) {
      if (code[end] === '(') depth++;
      if (code[end] === ')') depth--;
    }
    return code.slice(index, end);
  });
  return [...new Set(calls)].sort();
}

// Guards: a wait costs nothing: neither time nor a restarted worker wakes a workflow that has nothing to do.
test('wakes nobody without need', () => {
  for (const { quiet = [], quietUntil = {} } of all()) {
    for (const id of quiet) expect({ id, since: since.get(id) }).toEqual({ id, since: [] });
    for (const [id, event] of Object.entries(quietUntil)) {
      const [first] = present(since.get(id));
      if (first)
        expect({ id, first }).toEqual({
          id,
          first: expect.objectContaining({ [`${event}EventAttributes`]: expect.anything() }),
        });
    }
  }
  expect(begun.size).toBeGreaterThan(10);
  tried('workflows that slept', begun.size);
});

// Guards: a workflow that checks whether a signal was lost does so a few times an hour, however long it waits.
test('looks seldom', () => {
  expect(looked.days).toBeGreaterThan(DAYS);
  expect(looked.looks / looked.days).toBeLessThan(MOST_LOOKS_A_DAY);
  tried('simulated days', Math.floor(looked.days));
  tried('looks of a run that waits for its turn', looked.looks);
});

// Guards: no history comes near the server's limit, and each workflow was there to be checked.
test('keeps every history short', () => {
  const longest = Math.max(...executions.map(({ history }) => present(history.events).length));
  expect(longest).toBeLessThan(MOST_EVENTS);
  const played = Object.entries(WAITS).flatMap(([type, scenes]) => (typeof scenes === 'string' ? [] : type));
  expect([...new Set(executions.map(({ type }) => type))]).toEqual(expect.arrayContaining(played));
  tried('executions', executions.length);
  tried('events of the longest history', longest);
});

// Guards: only time was changed in these scenes: the same code without accelerated time replays their histories.
test(
  'does what it does at the pace of the world',
  async () => {
    const workflowBundle = await bundleWorkflows();
    const failures: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, executions)) {
      if (error) failures.push(`${workflowId}: ${error.message}`);
    }
    expect(failures).toEqual([]);
  },
  PATIENCE_MS,
);
