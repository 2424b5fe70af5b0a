/** What runs leave in Temporal: references and not content, and few events. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { present } from '../../src/platform/core/present.ts';
import { runWorkflowId } from '../../src/resources/runs/model.ts';
import { deliveryWorkflowId } from '../../src/resources/webhook-subscriptions/model.ts';
import { readHistories } from '../support/temporal/histories.ts';
import { tool } from '../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

let receiver: WebhookReceiver;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  receiver = await startWebhookReceiver(({ path }) => {
    if (path.startsWith('/broken')) return 'reset';
    return path.startsWith('/hook') ? { status: 404, body: 'canary-answer' } : { status: 200, body: 'canary-result' };
  });
  // Bundled anew: the bundle of the last build may be of other code.
  const env = { EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true', WORKER_BUNDLE: '' };
  service = await startTestService({ env });
  acme = await service.tenant('acc_acme');
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const at = (path: string) => `http://${receiver.hostAndPort}/${path}`;

describe('no content is in a history', () => {
  let histories: Map<string, string>;
  const runs: Record<string, string> = {};
  beforeAll(async () => {
    const agent = {
      slug: 'spy',
      description: 'canary-description',
      prompt: 'canary-system',
      model: 'claude-haiku-4-5',
      allowed_tool_slugs: ['http_request', 'save_artifact', 'spawn_run', 'calculator'],
    };
    expect((await acme.cp('POST', '/v1/agents', agent)).status).toBe(201);
    const hook = await acme.api('POST', '/v1/webhooks', { url: at('hook/canary-address'), events: ['*'] });
    expect(hook.status).toBe(201);

    const spawn = tool('spawn_run', {
      agent: 'spy',
      prompt: `canary-delegated ${tool('calculator', { expression: '1+1' })}`,
    });
    const prompts = {
      tools: `canary-prompt ${tool('save_artifact', { filename: 'canary-name.md', content: 'canary-content' })}
        ${tool('http_request', { url: at('page?canary-argument') })} [[then]] ${spawn}`,
      'broken tools': `canary-prompt ${tool('http_request', { url: at('broken?canary-argument') })}
        ${tool('http_request', { method: 'POST', url: at('broken?canary-argument'), body: 'canary-body' })}
        ${tool('calculator', { expression: 'canary + argument' })} ${tool('calculator', { canary: 'argument' })}`,
      refused: 'canary-prompt [[fail-status:400]]',
      unavailable: 'canary-prompt [[fail:1]]',
    };
    for (const [name, prompt] of Object.entries(prompts)) {
      const { run_id } = await acme.run({ agent: 'spy', prompt, thread_id: `canary-thread-${name}` });
      runs[name] = run_id;
    }
    const { body } = await acme.cp('GET', '/v1/runs?limit=100');
    const expected: string[] = body.data.map(({ run_id }: { run_id: string }) => runWorkflowId(run_id));
    expect(expected).toHaveLength(5);
    const deliveries = await eventually(async () => {
      const { body } = await acme.cp('GET', '/v1/webhook-deliveries?status=failed');
      expect(body.data).toHaveLength(4);
      return body.data as { id: string }[];
    });
    expected.push(...deliveries.map(({ id }) => deliveryWorkflowId(id)));
    histories = await eventually(async () => {
      const found = await readHistories(service.runtime.temporal, service.runtime.config.TASK_QUEUE_PREFIX);
      expect([...found.keys()]).toEqual(expect.arrayContaining(expected));
      return found;
    });
  });

  // Guards: the marked texts were used at all: prompt, argument, result, address and answer have passed through the
  // service.
  test('but it was there', async () => {
    const timeline = await acme.cp('GET', `/v1/runs/${runs.tools}/events`);
    expect(JSON.stringify(timeline.body)).toContain('canary-content');
    expect(JSON.stringify(timeline.body)).toContain('canary-result');
    const { body: broken } = await acme.cp('GET', `/v1/runs/${runs['broken tools']}/context/content`);
    expect(broken.content).toMatch(/canary-argument[^]*outcome of this call is unknown/);
    expect(receiver.received.some(({ path }) => path === '/hook/canary-address')).toBe(true);
    // Histories are read to the bottom: payloads, too, are text here.
    expect(histories.get(runWorkflowId(present(runs.tools)))).toContain('"callId":"call_1_0"');
  });

  // Guards: what tenants write and tools answer stays in Postgres, and an operator of Temporal can read none of it.
  test('nor is a canary', () => {
    const telling = [...histories].flatMap(([id, text]) =>
      (text.match(/.*canary.*/g) ?? []).map((line) => `${id}: ${line}`),
    );
    expect(telling).toEqual([]);
  });
});

describe('a history is short', () => {
  const eventCount = async (prompt: string) => {
    const { run_id, status } = await acme.run({ agent: 'assistant', prompt });
    expect(status).toBe('succeeded');
    const handle = service.runtime.temporal.client.workflow.getHandle(runWorkflowId(run_id));
    return present((await handle.fetchHistory()).events).length;
  };
  const sum = (a: number) => tool('calculator', { expression: `${a} + ${a}` });

  // Guards: an answer costs one activity and two workflow tasks, which is the least possible.
  test('of a run without tools', async () => {
    expect(await eventCount('Hello')).toBeLessThanOrEqual(12);
  });

  // Guards: a turn with tools adds its activities and at most one workflow task for each.
  test('of a run with two tool turns', async () => {
    expect(await eventCount(`${sum(1)} [[then]] ${sum(2)}`)).toBeLessThanOrEqual(12 + 2 * 12);
  });
});
