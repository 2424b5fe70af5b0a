/** An answer of ten megabytes, which an operator may allow: it is kept whole, read whole and delivered whole. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { answerIn, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { agentStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

jest.setTimeout(120_000);

const TEXT = 'All of it, and more. '.repeat(500_000);

const PIECES = TEXT.match(/[^]{1,100000}/g)!;

let provider: OpenAiServer;
let receiver: WebhookReceiver;
let service: TestService;
let tenant: Tenant;
let folder: string;
beforeAll(async () => {
  provider = await startOpenAiServer();
  receiver = await startWebhookReceiver(() => 200);
  folder = await mkdtemp(join(tmpdir(), 'aos-models-'));
  const models = [{ id: 'scripted', provider: 'openai-compatible', context_window: 1_000_000 }];
  await writeFile(join(folder, 'models.json'), JSON.stringify({ models }));
  service = await startTestService({
    env: {
      MODEL_CATALOGUE: join(folder, 'models.json'),
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      MODEL_MAX_OUTPUT_TOKENS: '1000000',
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
    },
  });
  tenant = await service.tenant('acc_large');
  await tenant.api('POST', '/v1/webhooks', { url: receiver.url, events: ['*'] });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await service?.close();
  await receiver?.close();
  await provider?.close();
});

// Guards: an answer that exceeds every message limit of Temporal works, because it never passes through Temporal.
test('of a run', async () => {
  provider.script(answerIn(PIECES));
  const run = await tenant.run({ agent: 'assistant', prompt: 'Tell all.' });
  expect(run).toMatchObject({ status: 'succeeded', error: null });
  expect(run.output === TEXT).toBe(true);
  // What lists it, and tells of it, stays small.
  const list = await tenant.cp('GET', '/v1/runs');
  expect(JSON.stringify(list.body).length).toBeLessThan(10_000);
  await eventually(() => expect(receiver.received).toHaveLength(1));
  expect(JSON.parse(receiver.received[0]!.body).data.output === TEXT).toBe(true);
  expect(provider.requests).toHaveLength(1);
});

// Guards: the same holds for a step, whose output is an artifact that the next phase reads.
test('of a step', async () => {
  provider.script(answerIn(PIECES), answerIn(['Short.']));
  await makeTemplate(tenant, 'large', [
    phaseSpec('first', [agentStep('write')]),
    phaseSpec('second', [agentStep('write')], { depends_on: ['first'] }),
  ]);
  const id = await startProject(tenant, 'large');
  await eventually(async () => {
    const { body } = await tenant.cp('GET', `/v1/projects/${id}`);
    expect(body.status === 'completed' || body.status === 'paused' ? body : undefined).toMatchObject({
      status: 'completed',
    });
  });
});
