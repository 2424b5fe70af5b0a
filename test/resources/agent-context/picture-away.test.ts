/** A run whose model is to be shown a picture while the storage does not answer. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import sharp from 'sharp';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import { answer, callTools, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { standBefore, type Front } from '../../support/faults/front.ts';
import { BUILD_MS } from '../../support/programs/go-program.ts';
import { startS3Gateway, type S3Gateway } from '../../support/programs/s3-gateway.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let storage: S3Gateway;
let front: Front;
let provider: OpenAiServer;
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  storage = await startS3Gateway('files');
  front = await standBefore(storage.url);
  provider = await startOpenAiServer();
  service = await startTestService({
    env: {
      ...storage.settings,
      FILES_S3_ENDPOINT: front.url,
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      OPENAI_COMPATIBLE_SEES: 'true',
    },
  });
  tenant = await service.tenant('acc_acme');
}, BUILD_MS);
afterAll(async () => {
  await service?.close();
  await provider?.close();
  front?.shut();
  await storage?.close();
});

// Guards against: a turn that fails for good, or is taken without the picture.
test('waits, and is shown it', async () => {
  const { body: thread } = await tenant.cp('POST', '/v1/chat/threads', { agent: 'assistant' });
  const form = new FormData();
  const pixels = { create: { width: 30, height: 20, channels: 3, background: 'red' } } as const;
  form.append('files', new Blob([new Uint8Array(await sharp(pixels).png().toBuffer())]), 'red.png');
  const { body: uploaded } = await tenant.cp('POST', `/v1/chat/threads/${thread.id}/attachments`, form);
  // The tool reads it, perhaps more than once, and when it has done so the turn does.
  const toolCalls = sql`select 1 from run_tool_calls where customer_id = ${tenant.caller.customerId} and status = 'succeeded'`;
  front.before = async (method) => {
    if (method !== 'GET' || (await service.runtime.db.rows(toolCalls)).length === 0) return;
    front.before = () => {};
    storage.freeze();
  };
  provider.script(
    callTools({ id: 'call_1', name: 'read_attachment', arguments: { filename: 'red.png' } }),
    answer('It is red.'),
  );
  const { body } = await tenant.cp('POST', `/v1/chat/threads/${thread.id}/messages`, {
    content: 'Which colour is it?',
    attachment_ids: [uploaded.data[0].id],
  });
  const handle = service.runtime.temporal.client.workflow.getHandle(runWorkflowId(body.run_id));
  await eventually(async () => {
    const { events } = await handle.fetchHistory();
    expect(events?.some(({ timerStartedEventAttributes: timer }) => timer)).toBe(true);
  });
  expect(provider.requests).toHaveLength(1);
  storage.thaw();
  expect(await tenant.waitForRun(body.run_id)).toMatchObject({ status: 'succeeded', output: 'It is red.' });
  expect(JSON.stringify(provider.requests[1]?.body.messages)).toContain('data:image/jpeg;base64,');
});
