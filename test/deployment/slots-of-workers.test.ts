/** Two worker processes of eight slots of each kind, and a workspace that has work of all kinds for all of them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createLog } from '../../src/platform/core/log.ts';
import { itemAt, present } from '../../src/platform/core/present.ts';
import type { Temporal } from '../../src/platform/temporal/client.ts';
import { createApiKeyService } from '../../src/resources/api-keys/service.ts';
import { createApiKeyStore } from '../../src/resources/api-keys/store.ts';
import { createWorkspaceStore } from '../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../src/resources/tenant-data.ts';
import { startNativePostgres } from '../support/database/native-postgres.ts';
import { startBarrier, type Barrier } from '../support/fakes/barrier.ts';
import { answerWhen, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import {
  actionStep,
  agentStep,
  makeTemplate,
  phaseSpec,
  projectOf,
  startProject,
  untilProject,
} from '../support/fixtures/projects.ts';
import { dispatch, tool } from '../support/fixtures/runs.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';
import { deploy, type Deployment } from '../support/processes/deployment.ts';
import { isMissing } from '../support/programs/missing.ts';
import { eventually, tenantOf, type Tenant } from '../support/service/service.ts';
import { connectTo } from '../support/temporal/temporal.ts';

const SLOTS = 8;
/** Of a workspace that has a worker for itself: each of its slots leaves one to the others. */
const SHARE = SLOTS / 2;
const MANY = 10;
/** Runs of one workspace that wait already when another asks for its own. */
const BACKLOG = 16 * MANY;
/** The death of a worker is noticed by its heartbeats, and what waited in it comes again by itself after half a minute. */
const PATIENCE_MS = 180_000;
/** A tool that found no slot looks again after two minutes at the latest (`workflows/shared/patience.ts`). */
const LONGEST_WAIT_MS = 400_000;
const TEST_MS = 1_500_000;

const probe = await startNativePostgres();
if (typeof probe !== 'string') await probe.stop();
const describeIt = isMissing('slots of two workers', typeof probe === 'string' ? probe : undefined)
  ? describe.skip
  : describe;

describeIt('two workers', () => {
  let provider: OpenAiServer;
  let barrier: Barrier;
  let deployment: Deployment;
  let temporal: Temporal;
  let acme: Tenant;
  let beta: Tenant;
  let gamma: Tenant;
  const projects: string[] = [];
  const runs: string[] = [];
  /** Those of acme that wait for an answer of the provider, for as long as the test wants. */
  const thinking: string[] = [];
  let isOpen = false;
  beforeAll(async () => {
    [provider, barrier] = [await startOpenAiServer(), await startBarrier()];
    deployment = await deploy({
      apis: 1,
      settings: {
        WORKER_MAX_MODEL_CALLS: String(SLOTS),
        WORKER_MAX_CONCURRENT: String(SLOTS),
        EGRESS_ALLOWLIST: barrier.hostAndPort,
        WEBHOOK_ALLOW_HTTP: 'true',
        WEBHOOK_TIMEOUT: '1m',
        DELIVERIES_PER_HOST: '100',
        OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
        OPENAI_COMPATIBLE_MODEL: 'scripted',
      },
    });
    temporal = await connectTo(deployment.temporalAddress, createLog({ level: 'warn', pretty: false }));
    const { db } = deployment;
    const keys = createApiKeyService({
      store: createApiKeyStore(db),
      workspaces: createWorkspaceStore(db, TENANT_DATA),
    });
    const { url } = itemAt(deployment.replicas, 0);
    const tenant = async (name: string) => {
      const caller = await makeWorkspace(db, `acc_${name}`);
      return tenantOf(present(url), caller, (await keys.create(caller.customerId, { name: 'test' })).key);
    };
    [acme, beta, gamma] = [await tenant('acme'), await tenant('beta'), await tenant('gamma')];
  });
  afterAll(async () => {
    await temporal?.close();
    await deployment?.close();
    await provider?.close();
    await barrier?.close();
  });

  const offline = (prompt: string) => ({ agent: 'assistant', prompt, override: { model_override: 'offline' } });
  const callsTool = offline(tool('calculator', { expression: '1 + 1' }));

  interface Held {
    calls: number;
    work: number;
  }
  /** What activities of acme each worker process holds, by what Temporal has of them; also of one that was killed. */
  async function heldByWorker(): Promise<Record<string, Held>> {
    const held: Record<string, Held> = {};
    const query = 'WorkspaceId = "acc_acme" AND ExecutionStatus = "Running"';
    for await (const { workflowId, runId } of temporal.client.workflow.list({ query })) {
      const { raw } = await temporal.client.workflow.getHandle(workflowId, runId).describe();
      for (const { state, lastWorkerIdentity, activityType } of raw.pendingActivities ?? []) {
        // STARTED
        if (state !== 2) continue;
        const own = (held[present(lastWorkerIdentity)] ??= { calls: 0, work: 0 });
        own[activityType?.name === 'takeTurn' ? 'calls' : 'work'] += 1;
      }
    }
    return held;
  }
  /** Each worker that is up has the share of acme. Temporal believes of a killed one that it works until its time is over. */
  const untilShared = () =>
    eventually(async () => {
      const held = Object.entries(await heldByWorker());
      const up = deployment.replicas.flatMap(({ part, running }) => (part === 'worker' && running) || []);
      const shares = up.map(({ child }) => held.find(([name]) => name.startsWith(`${child.pid}@`))?.[1]);
      expect(shares).toEqual(up.map(() => ({ calls: SHARE, work: SHARE })));
    }, PATIENCE_MS);

  /** Runs and projects of the others, while no call of a model ends for acme. */
  async function othersAreServed(): Promise<void> {
    const [id] = await Promise.all([
      startProject(gamma, 'plain'),
      ...Array.from({ length: MANY }, () => beta.run(callsTool).then((run) => expect(run.status).toBe('succeeded'))),
    ]);
    await untilProject(gamma, id, 'completed');
    const ended = sql`select id from runs where id = any(${sql.param(thinking)}::text[]) and completed_at is not null`;
    expect(await deployment.db.rows(ended)).toEqual([]);
  }

  // Guards: what one workspace holds is bounded in each of several workers, whatever it does and however much of it.
  test(
    'a workspace with everything has its share of each, and holds up nobody',
    async () => {
      provider.otherwise(answerWhen(['Done.'], () => eventually(() => expect(isOpen).toBe(true), 10 * PATIENCE_MS)));
      const write = agentStep('write', { assignee: 'plain' });
      for (const tenant of [acme, gamma]) {
        const agent = { slug: 'plain', model: 'offline', prompt: 'You write.', allowed_tool_slugs: ['calculator'] };
        expect((await tenant.cp('POST', '/v1/agents', agent)).status).toBe(201);
        await makeTemplate(tenant, 'plain', [phaseSpec('text', [write])]);
      }
      const send = actionStep('send', 'http_post', { depends_on: ['write'], max_attempts: 1 });
      await makeTemplate(acme, 'posting', [phaseSpec('text', [write, send])]);
      for (let n = 0; n < MANY; n++) {
        const hook = { url: barrier.url('hook') };
        expect((await acme.cp('POST', '/v1/webhook-deliveries/endpoints', hook)).status).toBe(201);
      }
      const body = { url: barrier.url('tool'), method: 'GET', timeout_s: 300 };
      const waits = { slug: 'waits', description: 'Waits.', kind: 'webhook', schema: { type: 'object' }, body };
      expect((await acme.cp('POST', '/v1/tools', waits)).status).toBe(201);
      const caller = { slug: 'caller', model: 'offline', prompt: 'You call.', allowed_tool_slugs: ['waits'] };
      expect((await acme.cp('POST', '/v1/agents', caller)).status).toBe(201);
      expect(await acme.run(offline('Hello'))).toMatchObject({ status: 'succeeded' });
      const params = { publish_url: barrier.url('publish') };
      await Promise.all(
        Array.from({ length: MANY }, async () => {
          projects.push(await startProject(acme, 'posting', { params }));
          runs.push(await dispatch(acme, { agent: 'caller', prompt: tool('waits', {}) }));
          thinking.push(await dispatch(acme, { ...callsTool, override: { model_override: 'scripted' } }));
        }),
      );
      runs.push(...thinking);
      await untilShared();
      await othersAreServed();
      await untilShared();
    },
    TEST_MS,
  );

  // Guards: slots of a worker that was killed, and what waited for them, are nobody's debt in the one that is left.
  test(
    'one of them is killed, and started again',
    async () => {
      const killed = present(deployment.replicas.findLast(({ part }) => part === 'worker'));
      await deployment.kill(killed, 'SIGKILL');
      await othersAreServed();
      await untilShared();
      await deployment.start(killed);
      await untilShared();
      await othersAreServed();
    },
    TEST_MS,
  );

  // Guards: what gave its slot back is done in the end, and takes the next workspace's turn no more than its own.
  test(
    'all of it is done, and the work of others begins in between',
    async () => {
      isOpen = true;
      const opening = setInterval(() => ['hook', 'publish', 'tool'].forEach((name) => barrier.open(name)), 100);
      try {
        for (let n = 0; n < BACKLOG / MANY; n++) {
          const slow = Array.from({ length: MANY }, () => dispatch(acme, offline('Slowly. [[sleep:400]]')));
          runs.push(...(await Promise.all(slow)));
        }
        const others = await Promise.all(Array.from({ length: MANY }, () => dispatch(beta, callsTool)));
        for (const id of others) expect(await beta.waitForRun(id)).toMatchObject({ status: 'succeeded' });
        const ended = sql`select status, count(*)::int as n from runs where id = any(${sql.param(runs)}::text[]) group by 1`;
        const all = [{ status: 'succeeded', n: runs.length }];
        await eventually(async () => expect(await deployment.db.rows(ended)).toEqual(all), LONGEST_WAIT_MS);
        const waits = await deployment.db.rows<{ passed: number }>(sql`
        select (select count(*)::int from runs a where a.customer_id = 'acme'
          and a.started_at between b.created_at and b.started_at) as passed
        from runs b where b.customer_id = 'beta' and b.id = any(${sql.param(others)}::text[])`);
        expect(waits).toHaveLength(MANY);
        // In order of arrival all of them would pass; how many do in turn depends on how fast the machine answers.
        expect(Math.max(...waits.map(({ passed }) => passed))).toBeLessThan(BACKLOG / 4);
        await eventually(async () => expect(await heldByWorker()).toEqual({}), PATIENCE_MS);
        // An action of which nobody knows whether it took effect is left to a person: those that the killed worker held,
        // and those that got no answer in time.
        await eventually(async () => {
          const ends = await Promise.all(projects.map(async (id) => (await projectOf(acme, id)).status));
          expect(ends.filter((status) => status !== 'completed' && status !== 'paused')).toEqual([]);
        }, LONGEST_WAIT_MS);
      } finally {
        clearInterval(opening);
      }
    },
    TEST_MS,
  );
});
