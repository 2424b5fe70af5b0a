/** What people and models write is the workspace's: operators who look at Temporal read ids, names and statuses. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { makeBelongings } from '../support/fixtures/belongings.ts';
import { readHistories } from '../support/temporal/histories.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { tried } from '../support/runner/sizes.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

jest.setTimeout(120_000);

const MARK = 'alba';
const BRIEF = 'Confidential merger of Alba and Bora';

/** Words after the mark in the texts of a workspace's belongings. */
const CONTENTS = [
  'prompt',
  'question',
  'content',
  'argument',
  'result',
  'memory',
  'summary',
  'brief',
  'body',
  'attached',
];

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let projectId: string;
/** By workflow id: what its history says, and what is shown beside it. */
let seen: Map<string, string>;

beforeAll(async () => {
  receiver = await startWebhookReceiver(() => 200);
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort } });
  tenant = await service.tenant('acc_alba');
  const { templateSlug } = await makeBelongings(service, tenant, receiver, MARK);
  const { body } = await tenant.api('POST', '/v1/projects', { workflow_slug: templateSlug, brief: BRIEF });
  projectId = body.project_id;
  await tenant.api('GET', `/v1/projects/${projectId}`);
  const { temporal, config } = service.runtime;
  // The list of workflows lags behind: one that it does not have yet would not be looked through.
  await eventually(async () => {
    seen = await readHistories(temporal, config.TASK_QUEUE_PREFIX);
    expect([...seen.keys()]).toContain(`project-${projectId}`);
  });
  for (const [id, history] of seen) {
    const description = await temporal.client.workflow.getHandle(id).describe();
    const shown = [await description.staticSummary(), await description.staticDetails()];
    seen.set(id, [id, history, ...shown].join('\n'));
  }
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const holding = (text: string) => [...seen].filter(([, all]) => all.toLowerCase().includes(text)).map(([id]) => id);

// Guards: prompts, answers, memories, files and arguments are stored in Postgres alone.
test.each(CONTENTS)('no history has the %s', (word) => {
  expect(holding(`${MARK} ${word}`)).toEqual([]);
  tried('histories searched for contents', seen.size);
});

// Guards: the beginning of a brief, as the title of a project without one, is shown to its owner only.
test('no history has words of a brief', async () => {
  expect((await tenant.api('GET', `/v1/projects/${projectId}`)).body.title).toBe(BRIEF);
  expect(projectId).toMatch(/^alba-workflow-[0-9a-f]{6}$/);
  for (const word of ['confidential', 'merger']) expect(holding(word)).toEqual([]);
});

// Guards: the tests above can fail, because the texts that they look for exist.
test('histories have ids and names', () => {
  expect(holding(`project-${projectId}`)).toContain(`project-${projectId}`);
  expect(holding(`${MARK}-agent`).length).toBeGreaterThan(0);
});
