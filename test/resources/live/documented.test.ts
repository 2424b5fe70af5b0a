/** `EXTENSIONS=sse`: documented endpoints give streams to who asks for them, and are otherwise what they were. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, last } from '../../../src/platform/core/present.ts';
import { openStream, type OpenStream } from '../../support/http/event-stream.ts';
import { documents } from '../../../src/openapi.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let receiver: WebhookReceiver;
let service: TestService;
let tenant: Tenant;
const streams: OpenStream[] = [];
afterEach(async () => {
  await Promise.all(streams.splice(0).map((stream) => stream.close()));
});
const open = async (path: string, headers: Record<string, string>) => {
  const stream = await openStream(service.baseUrl + path, headers);
  streams.push(stream);
  return stream;
};
const asKey = (path: string) => open(path, { authorization: `Bearer ${tenant.apiKey}` });
const asPerson = (path: string, headers = {}) =>
  open(`/api/v1/cp${path}`, { cookie: `service_session=${tenant.session}`, ...headers });
const names = ({ events }: OpenStream): string[] => events.map(({ event }) => event);

describe('switched on', () => {
  beforeAll(async () => {
    receiver = await startWebhookReceiver(() => 200);
    service = await startTestService({
      env: {
        EXTENSIONS: 'sse',
        LIVE_STREAM_LIFE: '1h',
        WEBHOOK_ALLOW_HTTP: 'true',
        EGRESS_ALLOWLIST: receiver.hostAndPort,
      },
    });
    tenant = await service.tenant('acc_streams');
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
  });

  // Guards: a webhook names the place of its event as the stream does, so that whoever got the webhook can go on in the stream
  // after it.
  test('webhooks name the place of what they tell', async () => {
    await tenant.api('POST', '/v1/webhooks', { url: `http://${receiver.hostAndPort}/hook` });
    const stream = await asPerson('/v1/live');
    await stream.first(({ event }) => event === 'open');
    const { run_id } = await tenant.run({ agent: 'assistant', prompt: 'Say something.' });
    const end = await stream.first(({ data }) => data.topic === 'run_completed');
    const delivered = await stream.first(({ event }) => event === 'delivery');
    expect(delivered.data).toMatchObject({ topic: 'delivered', run_id });
    expect(last(receiver.received).headers['x-service-event-cursor']).toBe(end.id);
  });

  // Guards: with an API key the status and output of a run are followed to its end, and each state that is sent is the body
  // that the endpoint would have answered.
  test('a run, with an API key', async () => {
    const { body } = await tenant.api('POST', '/v1/runs', {
      agent: 'assistant',
      prompt: '[[sleep:300]] Say something.',
    });
    const stream = await asKey(`/v1/runs/${body.run_id}`);
    await stream.ended;
    const states = stream.events.filter(({ event }) => event === 'status');
    expect(last(states).data).toEqual((await tenant.api('GET', `/v1/runs/${body.run_id}`)).body);
    expect(last(states).data).toMatchObject({ status: 'succeeded', output: expect.any(String) });
    expect(stream.events.at(-1)).toEqual({ event: 'end', data: { reason: 'ended' } });
    const again = await asKey(`/v1/runs/${body.run_id}`);
    await again.ended;
    expect(names(again)).toEqual(['status', 'end']);
  });

  // Guards: a client that follows a status and reads no texts can say so, and then the worker writes none down. Without that
  // word texts come, as they did before there was one.
  test('texts are left out for who asks for none', async () => {
    const { body } = await tenant.api('POST', '/v1/runs', {
      agent: 'assistant',
      prompt: '[[sleep:3000]] Say something.',
    });
    const watches = () =>
      service.runtime.db.rows(sql`select 1 from text_watches where watched like ${`%${body.run_id}%`}`);
    const without = await asKey(`/v1/runs/${body.run_id}?text=false`);
    await without.first(({ event }) => event === 'status');
    expect(await watches()).toEqual([]);
    const reading = await asKey(`/v1/runs/${body.run_id}`);
    await reading.first(({ event }) => event === 'status');
    expect(await watches()).toHaveLength(1);
    await Promise.all([without.ended, reading.ended]);
    expect((await asKey(`/v1/runs/${body.run_id}?text=perhaps`)).response.status).toBe(422);
  });

  // Guards: the stream has the timeline of a run to its last row, from its beginning or from where a client left off.
  test('the timeline of a run, with a session', async () => {
    const { run_id } = await tenant.run({ agent: 'assistant', prompt: 'Say something.' });
    const stream = await asPerson(`/v1/runs/${run_id}/events`);
    await stream.ended;
    const { body } = await tenant.cp('GET', `/v1/runs/${run_id}/events`);
    const told = stream.events.filter(({ event }) => event === 'run');
    expect(told.map(({ data }) => data.event)).toEqual(body.data);
    expect(names(stream).at(-1)).toBe('end');
    const rest = await asPerson(`/v1/runs/${run_id}/events`, { 'last-event-id': itemAt(told, 1).id });
    await rest.ended;
    expect(rest.events.filter(({ event }) => event === 'run')).toEqual(told.slice(2));
  });

  // Guards: a project is followed by its own address, with either credential, and in the feed of all.
  test('a project', async () => {
    const feed = await asPerson('/v1/events');
    await feed.first(({ event }) => event === 'open');
    const { body } = await tenant.api('POST', '/v1/projects', {
      workflow_slug: 'blog-post',
      title: 'Bread',
      brief: 'Say something of bread.',
    });
    const [state, events] = [
      await asKey(`/v1/projects/${body.project_id}`),
      await asPerson(`/v1/projects/${body.project_id}/events`),
    ];
    expect(await state.first(({ event }) => event === 'status')).toMatchObject({
      data: { project_id: body.project_id },
    });
    const first = await events.first(({ event }) => event === 'project');
    expect(first.data).toMatchObject({ kind: 'project', project_id: body.project_id });
    await feed.first(({ id }) => id === first.id);
    await tenant.cp('POST', `/v1/projects/${body.project_id}/abandon`);
    await state.ended;
    expect(itemAt(state.events, -2).data).toMatchObject({ status: 'abandoned' });
  });

  // Guards: a stream of something unknown, or of another workspace, is refused as the ordinary request is. A wrong key opens none.
  test('refuses as before', async () => {
    const other = await service.tenant('acc_streams_too');
    const { run_id } = await other.run({ agent: 'assistant', prompt: 'Say something.' });
    for (const id of [run_id, 'unknown']) {
      for (const stream of [await asKey(`/v1/runs/${id}`), await asPerson(`/v1/runs/${id}/events`)]) {
        await stream.ended;
        expect([stream.response.status, stream.text()]).toEqual([404, '{"detail":"not_found"}']);
      }
    }
    expect((await open(`/v1/runs/${run_id}`, { authorization: 'Bearer svc_pk_wrong' })).response.status).toBe(401);
    expect((await asPerson(`/v1/runs/${run_id}/events`, { cookie: '' })).response.status).toBe(401);
  });

  // Guards: a client that does not ask for a stream, or takes anything, gets the ordinary answer. The documents name both.
  test('answers as before without the header', async () => {
    const { run_id } = await tenant.run({ agent: 'assistant', prompt: 'Say something.' });
    for (const accept of ['*/*', 'application/json', 'text/event-stream;q=0.1, application/json']) {
      const response = await fetch(`${service.baseUrl}/v1/runs/${run_id}`, {
        headers: { authorization: `Bearer ${tenant.apiKey}`, accept },
      });
      expect(await response.json()).toMatchObject({ run_id });
    }
    const { content } = documents(service.routes, service.runtime.config).public().paths!['/v1/runs/{run_id}']!.get!
      .responses![200] as { content: object };
    expect(Object.keys(content)).toEqual(['application/json', 'text/event-stream']);
  });
});

describe('switched off', () => {
  beforeAll(async () => {
    service = await startTestService({ env: { LIVE_STREAM_LIFE: '1h' } });
    tenant = await service.tenant('acc_plain');
  });
  afterAll(() => service?.close());

  // Guards: without the extension the header changes nothing, and no document names a stream.
  test('the header means nothing', async () => {
    const { run_id } = await tenant.run({ agent: 'assistant', prompt: 'Say something.' });
    for (const { response } of [await asKey(`/v1/runs/${run_id}`), await asPerson(`/v1/runs/${run_id}/events`)]) {
      expect(response.headers.get('content-type')).toContain('application/json');
    }
    const { content } = documents(service.routes, service.runtime.config).public().paths!['/v1/runs/{run_id}']!.get!
      .responses![200] as { content: object };
    expect(Object.keys(content)).toEqual(['application/json']);
  });
});
