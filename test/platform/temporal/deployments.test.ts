/** Versions of the workers side by side: what ends where it began, what goes along, ramps, and the way back. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { present } from '../../../src/platform/core/present.ts';
import {
  describeDeployment,
  listDeployments,
  makeCurrent,
  ownVersion,
  ramp,
} from '../../../src/platform/temporal/deployments.ts';
import { createFileStore } from '../../../src/platform/files/files.ts';
import { createProbes } from '../../../src/resources/system/probes.ts';
import { startWorker, type RunningWorker } from '../../../src/worker.ts';
import {
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  untilGate,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { askedOn, asks, newTenant, send } from '../../resources/miniapps/people.ts';

const CLI = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));

let service: TestService;
let acme: Tenant;
let deployment: string;
const running: RunningWorker[] = [];

beforeAll(async () => {
  service = await startTestService({ worker: false });
  deployment = `${service.runtime.config.TASK_QUEUE_PREFIX}aos`;
  acme = await newTenant(service, 'acc_acme');
  await makeTemplate(acme, 'gated', [phaseSpec('text', [gateStep('gate')])]);
});
afterAll(async () => {
  for (const worker of running) await worker.close();
  await service?.close();
});

async function startVersion(buildId: string): Promise<void> {
  const settings = { WORKER_DEPLOYMENT: deployment, WORKER_BUILD_ID: buildId };
  const runtime = { ...service.runtime, config: { ...service.runtime.config, ...settings } };
  running.push(await startWorker(runtime, service.services));
}

async function aos(...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'deployments', ...args], {
    env: { TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS, WORKER_DEPLOYMENT: deployment },
  });
  return JSON.parse(stdout);
}

/** Of the worker that has it. */
async function buildIdOf(workflowId: string): Promise<string | undefined> {
  const { raw } = await service.runtime.temporal.client.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}
const runOn = async (): Promise<string | undefined> =>
  buildIdOf(`run-${(await acme.run({ agent: 'assistant', prompt: 'hello' })).run_id}`);

// Guards: a rollout works as docs/operate/deploy.md describes it. Pinned executions end on the old version and others
// move along; a ramp splits new work; the way back is the same step.
test('a rollout', async () => {
  const { temporal } = service.runtime;
  const use = (buildId: string) => eventually(() => makeCurrent(temporal, { deployment, buildId }));
  const versions = present(
    createProbes({
      temporal,
      store: { ping: async () => {} },
      files: createFileStore(service.runtime.config),
      providers: [],
      providersOut: () => [],
      disk: service.services.disk,
      config: { ...service.runtime.config, WORKER_DEPLOYMENT: deployment },
    })['workers.version'],
  );
  await startVersion('v1');
  // Whoever forgets the step is told, as nothing would begin.
  await eventually(async () => expect(await versions()).toMatchObject({ status: 'degraded' }));
  await use('v1');
  await eventually(async () => expect(await versions()).toEqual({ status: 'ok', detail: 'v1' }));
  expect(await runOn()).toBe('v1');
  // Workers with a version are workers to whoever asks how the deployment is.
  const { body: health } = await acme.cp('GET', '/v1/system/health');
  expect(health.parts).toContainEqual(expect.objectContaining({ name: 'workers.orchestration', status: 'ok' }));
  const waiting = await asks(acme, { question: 'Which size?' });
  const page = await askedOn(service, acme, waiting);
  const projectId = await startProject(acme, 'gated');
  const gate = await untilGate(acme, projectId, 'text', 'gate');
  expect(await buildIdOf(`project-${projectId}`)).toBe('v1');

  await startVersion('v2');
  await eventually(() => ramp(temporal, { deployment, buildId: 'v2' }, 50));
  const split = new Set<string | undefined>();
  await eventually(async () => {
    split.add(await runOn());
    expect([...split].sort()).toEqual(['v1', 'v2']);
  });

  await use('v2');
  await eventually(async () => expect(await runOn()).toBe('v2'));
  expect(await listDeployments(temporal)).toContain(deployment);
  await eventually(async () =>
    expect(await describeDeployment(temporal, deployment)).toEqual({
      deployment,
      current: 'v2',
      versions: [
        { build_id: 'v2', state: 'current' },
        { build_id: 'v1', state: 'draining' },
      ],
    }),
  );
  expect(await gate.approve()).toMatchObject({ status: 200 });
  await untilProject(acme, projectId, 'completed');
  expect(await buildIdOf(`project-${projectId}`)).toBe('v2');
  expect(await send(page, JSON.stringify({ answer: 'large' }))).toMatchObject({ status: 200 });
  expect(await acme.waitForRun(waiting)).toMatchObject({ status: 'succeeded' });
  expect(await buildIdOf(`run-${waiting}`)).toBe('v1');

  // Back again, as an operator does it.
  expect(await aos('set-current', 'v1', '--json')).toMatchObject([{ deployment, current: 'v1' }]);
  await eventually(async () => expect(await runOn()).toBe('v1'));
  await expect(aos('set-current', 'v3')).rejects.toThrow(/v3/);
  const ramping = expect.objectContaining({ build_id: 'v2', percent: 20 });
  expect(await aos('ramp', 'v2', '--percent', '20', '--json')).toMatchObject([
    { versions: expect.arrayContaining([ramping]) },
  ]);
  expect(await aos('ramp', 'v2', '--percent', '0', '--json')).toMatchObject([
    { versions: expect.not.arrayContaining([ramping]) },
  ]);
});

// Guards: executions that unversioned workers began move to the first version, so that those workers can be stopped.
test('from workers without a version', async () => {
  for (const worker of running.splice(0)) await worker.close();
  const { temporal } = service.runtime;
  const clear = { namespace: temporal.namespace, deploymentName: deployment, ignoreMissingTaskQueues: true };
  await temporal.connection.workflowService.setWorkerDeploymentCurrentVersion({ ...clear, buildId: '' });
  const plain = await service.startWorker();
  const projectId = await startProject(acme, 'gated');
  const gate = await untilGate(acme, projectId, 'text', 'gate');
  expect(await buildIdOf(`project-${projectId}`)).toBeUndefined();

  await startVersion('v4');
  await eventually(() => makeCurrent(temporal, { deployment, buildId: 'v4' }));
  await plain.close();
  expect(await gate.approve()).toMatchObject({ status: 200 });
  await untilProject(acme, projectId, 'completed');
  expect(await buildIdOf(`project-${projectId}`)).toBe('v4');
});

// Guards: a version of which only a half is set stops the worker, which would otherwise run without one.
test.each([{ WORKER_DEPLOYMENT: 'aos' }, { WORKER_BUILD_ID: 'v1' }])('%j alone is refused', (settings) => {
  expect(() => ownVersion({ WORKER_DEPLOYMENT: undefined, WORKER_BUILD_ID: undefined, ...settings })).toThrow(
    'WORKER_DEPLOYMENT and WORKER_BUILD_ID go together',
  );
});
