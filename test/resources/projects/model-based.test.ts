/**
 * Random stories of random projects: whatever is done to one, in whatever order and wherever its workers are, the record
 * stays sound, what must be refused is refused, and the project can be brought to its end.
 *
 * `PROJECT_MODEL_RUNS` says how many stories are told, `PROJECT_MODEL_SEED` which ones (a failure prints its own).
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '../../../src/platform/core/present.ts';
import { phaseWorkflowId } from '../../../src/resources/projects/model.ts';
import { connectTo } from '../../support/temporal/temporal.ts';
import { startWorker } from '../../../src/worker.ts';
import { gateStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { modelSettings, startModelProvider } from '../../support/fakes/model-provider.ts';
import type { OpenAiServer } from '../../support/fakes/openai-server.ts';
import { startTcpProxy } from '../../support/faults/tcp-proxy.ts';
import {
  emailOf,
  EVERY_GATE,
  phases,
  SHARED_GATES,
  story,
  waitingFor,
  type Person,
  type Restart,
} from './model/arbitraries.ts';
import { createTeller } from './model/teller.ts';
import { memberOf } from '../inbox/waits.ts';
import { addMember } from '../sign-in/people.ts';
import { faultsOf, isLegal, logMoves, movesOf, outdatedPhases, readState } from './model/record.ts';
import { sized, tried } from '../../support/runner/sizes.ts';

const RUNS = Number(process.env.PROJECT_MODEL_RUNS ?? sized(5, 60));
const SEED = process.env.PROJECT_MODEL_SEED ?? process.env.PROOF_SEED;
const A_STORY_MS = 240_000;
const PARAMS = { type: 'object', properties: { publish_url: { type: 'string' } } };

let service: TestService;
let tenant: Tenant;
let people: Record<Person, Tenant>;
let sink: WebhookReceiver;
let worker: Awaited<ReturnType<typeof openWorker>>;
/** Workers that were killed, until nothing of them is left in this process. */
const killed: Promise<void>[] = [];
let provider: OpenAiServer;
let folder: string;
/** How many of the next answers of the sink, and calls of models, are errors. */
const broken = { answers: 0, calls: 0 };
const takes = (what: keyof typeof broken): boolean => broken[what] > 0 && broken[what]-- > 0;

beforeAll(async () => {
  sink = await startWebhookReceiver(() => (takes('answers') ? 500 : 200));
  provider = await startModelProvider(() => takes('calls'));
  folder = await mkdtemp(join(tmpdir(), 'aos-model-'));
  service = await startTestService({
    worker: false,
    env: {
      EGRESS_ALLOWLIST: sink.hostAndPort,
      HOUSEKEEPING_INTERVAL: '1h',
      ...(await modelSettings(provider.baseUrl, folder)),
    },
  });
  worker = await openWorker();
  tenant = await service.tenant('acc_acme');
  await addMember(service, tenant.caller.customerId, tenant.caller.actor, 'owner');
  const [ana, ben] = await Promise.all([
    memberOf(service, tenant, emailOf('ana')),
    memberOf(service, tenant, emailOf('ben')),
  ]);
  people = { self: tenant, ana, ben };
  await logMoves(service.runtime.db);
  await makeTemplate(tenant, 'awaited', [phaseSpec('only', [gateStep('gate')])]);
});
afterAll(async () => {
  await worker?.close();
  await Promise.all(killed);
  await service?.close();
  await sink?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

/** With a connection of its own: one connection takes one worker of a queue, and can be cut. */
async function openWorker() {
  const { runtime, services } = service;
  const wire = await startTcpProxy(present(process.env.TEST_TEMPORAL_ADDRESS));
  const temporal = await connectTo(wire.address, runtime.log);
  const started = await startWorker({ ...runtime, temporal }, services);
  async function close(): Promise<void> {
    await started.close();
    await temporal.close();
    await wire.close();
  }
  return {
    close,
    /** As far as anybody can tell: its work is broken off, and nobody hears of it. */
    async kill(): Promise<void> {
      await wire.cut('refuse');
      killed.push(close());
    },
  };
}

async function restartWorker(how: Restart): Promise<void> {
  tried('restarts of the worker');
  const old = worker;
  if (how === 'gap') await old.close();
  if (how === 'killed') await old.kill();
  const closing = how === 'overlapping' ? old.close() : undefined;
  worker = await openWorker();
  if (how === 'rolling') await old.close();
  await closing;
}

let stories = 0;

// Guards: section 3 of the specification holds under any sequence of commands, races, failures and restarts.
test(
  'any story keeps the record sound and comes to an end',
  async () => {
    const told = fc.asyncProperty(phases, story, async (spec, commands) => {
      const { db, temporal } = service.runtime;
      const slug = `story-${++stories}`;
      Object.assign(broken, { answers: 0, calls: 0 });
      const awaited = await startProject(tenant, 'awaited');
      await makeTemplate(tenant, slug, waitingFor(awaited, spec), { params: PARAMS });
      const id = await startProject(tenant, slug, { params: { publish_url: sink.url } });
      const teller = createTeller({ db, temporal, people, id, awaited, broken, restartWorker });

      let seen = 0;
      async function check(grants: number): Promise<void> {
        const moves = await movesOf(db, id, seen);
        seen = moves.at(-1)?.id ?? seen;
        expect(moves.filter((move) => !isLegal(move))).toEqual([]);
        const started = moves.filter(({ what, now }) => what === 'attempts' && now === 'running');
        const unasked = started.filter(({ projectStatus }) => projectStatus !== 'active');
        expect(unasked.length).toBeLessThanOrEqual(grants);
        expect(await faultsOf(db, id)).toEqual([]);
        expect(await outdatedPhases(db, id)).toEqual([]);
        tried('commands and what came of them');
      }

      try {
        for (const command of commands) await check(await teller.tell(command));
        Object.assign(broken, { answers: 0, calls: 0 });
        await eventually(async () => {
          await teller.help();
          const { status } = await readState(db, id);
          if (status !== 'completed' && status !== 'abandoned') throw new Error(`it is ${status}`);
        }, A_STORY_MS / 2);
        await check(0);
        tried('projects brought to their end');
        const { phases } = await readState(db, id);
        const open = phases.flatMap(({ steps }) => steps.filter(({ isRunning, isQueued }) => isRunning || isQueued));
        expect(open).toEqual([]);
        // Nobody is left waiting for anything.
        const starts = phases.flatMap(({ slug, iteration }) =>
          [...Array(iteration).keys()].map((n) => phaseWorkflowId(id, slug, n + 1)),
        );
        await eventually(async () => {
          const described = await Promise.all(
            starts.map((workflowId) => temporal.client.workflow.getHandle(workflowId).describe()),
          );
          expect(described.filter(({ status }) => status.name === 'RUNNING')).toEqual([]);
        });
      } catch (error) {
        const state = await readState(db, id);
        throw new Error(`${id}: ${String(error)}\n${teller.log.join('\n')}\n${JSON.stringify(state, null, 1)}`, {
          cause: error,
        });
      }
    });
    await fc.assert(told, {
      numRuns: RUNS,
      examples: [EVERY_GATE, SHARED_GATES],
      // What depends on time does not shrink.
      endOnFailure: true,
      ...(SEED && { seed: Number(SEED) }),
    });
  },
  A_STORY_MS * Math.max(RUNS, 1),
);
