/** Recorded samples in the whole service: projects that are answered from them, and those that must not be. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { projectWorkflowId } from '../../../src/resources/projects/model.ts';
import { openSamples, type WorkflowSample } from '../../../src/resources/samples/library.ts';
import { SAMPLE_NOTE } from '../../../src/resources/samples/model.ts';
import { resolveGateSignal } from '../../../workflows/project/messages.ts';
import { answer, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { artifactsOf, attemptsOf, command, projectOf, stepOf, tasksOf } from '../../support/fixtures/projects.ts';
import { eventsOf, rowOf } from '../../support/fixtures/runs.ts';
import { drawn } from '../../support/runner/sizes.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { resultFile } from '../../samples/result.ts';
import { setOwnServer } from './own-server.ts';

const ROOT = fileURLToPath(new URL('../../../samples/workflows', import.meta.url));
const { workflows } = await openSamples();
const sampleOf = (workflow: string): WorkflowSample =>
  present(workflows.find((sample) => sample.workflow === workflow));

let receiver: WebhookReceiver;
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  const env = { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort };
  service = await startTestService({ env });
  acme = await service.tenant('acc_acme');
  const hook = { url: receiver.url, events: ['project.completed'] };
  expect((await acme.api('POST', '/v1/webhooks', hook)).status).toBe(201);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

async function start({ workflow, title, brief, params }: WorkflowSample): Promise<string> {
  const started = await acme.api('POST', '/v1/projects', { workflow_slug: workflow, title, brief, params });
  expect(started).toMatchObject({ status: 201 });
  return started.body.project_id;
}

/** Approves every gate until the project is completed. */
async function complete(id: string): Promise<void> {
  const answered = new Set<string>();
  await eventually(async () => {
    const project = await projectOf(acme, id);
    if (project.status === 'completed') return;
    for (const task of await tasksOf(acme, id)) {
      const { body } = await acme.cp('GET', `/v1/projects/${id}/tasks/${task.id}/subtasks`);
      for (const { id: subtask_id, kind, status, gate_kind } of body.data) {
        if (kind !== 'gate' || status !== 'blocked' || answered.has(subtask_id)) continue;
        answered.add(subtask_id);
        if (gate_kind === 'human') {
          await command(acme, id, `subtasks/${subtask_id}/resolve-gate`, { decision: 'approved' });
        } else {
          await service.runtime.temporal.client.workflow
            .getHandle(projectWorkflowId(id))
            .signal(resolveGateSignal, { subtask_id, decided_by: 'the other system', decision: 'approved' });
        }
      }
    }
    throw new Error(`project ${id} is ${project.status} (${project.pause_reason})`);
  });
}

const runOf = async (id: string, phase: string, step: string): Promise<string> => {
  const [attempt] = await attemptsOf(acme, id, (await stepOf(acme, id, phase, step)).id);
  return attempt.child_run_id;
};

// Guards: each of the ten workflows runs to its end on its sample, and what it makes is what was recorded.
test.each(drawn('samples', workflows, 3).map((sample) => [sample.workflow, sample] as const))(
  '%s makes what was recorded',
  async (workflow, sample) => {
    const id = await start(sample);
    await complete(id);
    const folder = join(ROOT, workflow, 'result');
    const made = (await artifactsOf(acme, id)).map((artifact) => {
      expect(artifact).toMatchObject({ sample: true });
      return resultFile(artifact.phase_slug, artifact.content);
    });
    expect(made.map(({ name }) => name).sort()).toEqual((await readdir(folder)).sort());
    for (const { name, text } of made) {
      const recorded = await readFile(join(folder, name), 'utf8');
      if (name.endsWith('.json')) expect(JSON.parse(text)).toEqual(JSON.parse(recorded));
      else expect(text).toBe(recorded);
    }
  },
);

// Guards: nobody can take a recording for the work of a model, wherever they meet it.
test('says everywhere that it was recorded', async () => {
  const id = await start(sampleOf('blog-post'));
  await complete(id);
  expect(await projectOf(acme, id)).toMatchObject({ sample: true });
  expect((await acme.api('GET', `/v1/projects/${id}`)).body).toMatchObject({ sample: true });
  expect((await acme.cp('GET', '/v1/projects')).body.data[0]).toMatchObject({ id, sample: true });

  const runId = await runOf(id, 'draft', 'write');
  expect(await rowOf(acme, runId)).toMatchObject({ model: 'offline', model_rule: 'sample', sample: true });
  expect((await acme.cp('GET', `/v1/runs/${runId}/detail`)).body).toMatchObject({ sample: true });
  expect((await acme.cp('GET', `/v1/runs/${runId}/summary`)).body).toMatchObject({ sample: true });
  expect((await acme.api('GET', `/v1/runs/${runId}`)).body).toMatchObject({ sample: true });
  const resolved = (await eventsOf(acme, runId)).find(({ event_type }) => event_type === 'model_resolved');
  expect(resolved?.payload).toMatchObject({ note: SAMPLE_NOTE });
  const { body } = await acme.cp('GET', '/v1/runs/search');
  expect(body.data.map(({ sample }: { sample: boolean }) => sample)).toContain(true);

  const told = await eventually(() => {
    const bodies = receiver.received.map((delivery) => JSON.parse(delivery.body));
    return present(bodies.find(({ data }) => data.project_id === id));
  });
  expect(told.data).toMatchObject({ sample: true });
});

// Guards: the first attempt that is sent back, the feedback, and the second attempt are there to be looked at.
test('shows work that was sent back', async () => {
  const id = await start(sampleOf('blog-post'));
  await complete(id);
  const write = await stepOf(acme, id, 'draft', 'write');
  expect((await attemptsOf(acme, id, write.id)).map(({ attempt_reason }) => attempt_reason).sort()).toEqual([
    'initial',
    'review_failure',
  ]);
});

describe('is answered by the offline model, unmarked', () => {
  const sample = sampleOf('blog-post');
  test.each([
    ['with another brief', { ...sample, brief: `${sample.brief} And be quick.` }],
    ['with another parameter', { ...sample, params: { ...sample.params, tone: 'like a pirate' } }],
    ['without its parameters', { ...sample, params: {} }],
  ])('%s', async (_, changed) => {
    const id = await start(changed);
    await eventually(async () =>
      expect(await stepOf(acme, id, 'outline', 'outline')).toMatchObject({ status: 'succeeded' }),
    );
    expect(await projectOf(acme, id)).toMatchObject({ sample: false });
    expect(await rowOf(acme, await runOf(id, 'outline', 'outline'))).toMatchObject({
      model_rule: 'offline',
      sample: false,
    });
    await command(acme, id, 'abandon', {});
  });

  // Guards: a workspace's own version of a workflow asks for other things than were recorded.
  test("for a workspace's own version of the workflow", async () => {
    const other = await service.tenant('acc_other');
    const { body: shipped } = await other.cp('GET', '/v1/workflows/blog-post');
    await other.cp('PATCH', '/v1/workflows/blog-post', { spec: { ...shipped.spec, title: 'Ours' } });
    const { title, brief, params } = sample;
    const { body } = await other.cp('POST', '/v1/projects', { workflow_slug: 'blog-post', title, brief, params });
    expect(body).toMatchObject({ workflow_version: 2 });
    await eventually(async () =>
      expect(await stepOf(other, body.id, 'research', 'facts')).toMatchObject({ status: 'succeeded' }),
    );
    expect(await projectOf(other, body.id)).toMatchObject({ sample: false });
  });
});

// Guards: a sample never stands in for a model that is configured, by the deployment or by the workspace.
describe('with a provider', () => {
  let provider: OpenAiServer;
  beforeAll(async () => {
    provider = await startOpenAiServer();
    provider.otherwise(answer('{"facts":[],"unknowns":[]}'));
  });
  afterAll(() => provider?.close());

  async function expectModelCalled(tenant: Tenant): Promise<void> {
    provider.requests.length = 0;
    const { title, brief, params } = sampleOf('blog-post');
    const { body } = await tenant.cp('POST', '/v1/projects', { workflow_slug: 'blog-post', title, brief, params });
    await eventually(() => expect(provider.requests.length).toBeGreaterThan(0));
    await eventually(async () => {
      const runs = (await tenant.cp('GET', '/v1/runs/search')).body.data;
      expect(runs.length).toBeGreaterThan(0);
      expect(runs.filter(({ sample }: { sample: boolean }) => sample)).toEqual([]);
    });
    expect(await projectOf(tenant, body.id)).toMatchObject({ sample: false });
    await command(tenant, body.id, 'abandon', {});
  }

  test('of the deployment', async () => {
    const configured = await startTestService({
      env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
    });
    try {
      await expectModelCalled(await configured.tenant('acc_configured'));
    } finally {
      await configured.close();
    }
  });

  test('of the workspace', async () => {
    const own = await startTestService({ env: { EGRESS_ALLOWLIST: new URL(provider.baseUrl).host } });
    try {
      const tenant = await own.tenant('acc_own');
      await setOwnServer(tenant, provider.baseUrl);
      await expectModelCalled(tenant);
    } finally {
      await own.close();
    }
  });
});
