/** `GET /v1/live`: what a client of the stream is promised, over real HTTP, in one process and through a gateway apart. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { openStream, type OpenStream } from '../../support/http/event-stream.ts';
import {
  GATEWAYS,
  sessionFor,
  startTestService,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
const streams: OpenStream[] = [];
afterEach(async () => {
  await Promise.all(streams.splice(0).map((stream) => stream.close()));
});

async function follow(query = '', { session = tenant.session, headers = {} as Record<string, string> } = {}) {
  const url = `${service.baseUrl}/api/v1/cp/v1/live${query}`;
  const stream = await openStream(url, { cookie: `service_session=${session}`, ...headers });
  streams.push(stream);
  // What happens before is not told to a stream without a cursor.
  if (stream.response.ok) await stream.first(({ event }) => event === 'open');
  return stream;
}
const isOf = (kind: string, topic?: string) => (event: { event: string; data: { topic?: string } }) =>
  event.event === kind && (topic === undefined || event.data.topic === topic);
const isEnd = isOf('run', 'run_completed');
const idsOf = ({ events }: OpenStream): (string | undefined)[] => events.slice(1).map(({ id }) => id);

/** An event of a kind that has no table of its own. */
const note = (subject: string, customerId = tenant.caller.customerId) =>
  service.runtime.db.rows(sql`insert into log_events (customer_id, kind, topic, subject, payload)
    values (${customerId}, 'wait', 'opened', ${subject}, '{"n": 1}')`);
const isAbout = (subject: string) => (event: { event: string; data: { event?: { id?: unknown } } }) =>
  event.event === 'wait' && event.data.event?.id === subject;

describe.each(GATEWAYS)('%s', (_name, { split }) => {
  beforeAll(async () => {
    service = await startTestService({
      split,
      env: { LIVE_STREAM_LIFE: '1h', LIVE_STREAMS_PER_WORKSPACE: '6', LIVE_STREAMS: '8' },
    });
    tenant = await service.tenant('acc_live');
  });
  afterAll(() => service?.close());

  // Guards: a stream has every event of a run while it happens, in the form that the run's own list has, and no proxy or
  // compression on the way holds it up.
  test('tells of a run while it goes on', async () => {
    const stream = await follow();
    const opened = await stream.first(isOf('open'));
    expect(opened).toEqual({ event: 'open', id: opened.data.cursor, data: { cursor: expect.any(String) } });
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
    });
    expect(stream.response.headers.get('content-encoding')).toBeNull();

    const { run_id } = await tenant.run({ agent: 'assistant', prompt: 'Say something.' });
    await stream.first(isEnd);
    const told = stream.events.slice(1).map(({ data }) => data);
    const { body } = await tenant.cp('GET', `/v1/runs/${run_id}/events`);
    expect(told.map(({ event }) => event)).toEqual(body.data);
    expect(told.every((data) => data.kind === 'run' && data.run_id === run_id && data.project_id === null)).toBe(true);
    expect(stream.events.slice(1).every(({ id, data }) => id === data.cursor)).toBe(true);
  });

  // Guards: a client that connects again with the last id that it saw gets everything after it once, wherever it left off.
  test('resumes after any event', async () => {
    const first = await follow('?kind=run,wait');
    await first.first(isOf('open'));
    await tenant.run({ prompt: 'Say something.' });
    await first.first(isEnd);
    const seen = idsOf(first);
    expect(new Set(seen).size).toBe(seen.length);
    for (const left of [0, 1, seen.length - 2]) {
      const after = itemAt(seen, left);
      const again = await follow('', { headers: { 'last-event-id': after } });
      if (left < seen.length - 1) await again.first(({ id }) => id === seen.at(-1));
      expect(idsOf(again)).toEqual(seen.slice(left + 1));
      await again.close();
    }
    const oldest = await follow('?after=0');
    await oldest.first(({ id }) => id === seen.at(-1));
    expect(idsOf(oldest).slice(-seen.length)).toEqual(seen);
  });

  // Guards: filters hold for past events and for those that come.
  test('filters by run, project and kind', async () => {
    const { run_id } = await tenant.run({ prompt: 'One.' });
    const all = [
      await follow(`?after=0&run_id=${run_id}`),
      await follow('?after=0&kind=wait'),
      await follow('?project_id=none'),
    ];
    await note('of-nobody');
    await itemAt(all, 1).first(isAbout('of-nobody'));
    await tenant.run({ prompt: 'Another.' });
    await note('last');
    await itemAt(all, 1).first(isAbout('last'));
    expect(
      new Set(
        itemAt(all, 0)
          .events.slice(1)
          .map(({ data }) => data.run_id),
      ),
    ).toEqual(new Set([run_id]));
    expect(
      itemAt(all, 0)
        .events.slice(1)
        .map(({ data }) => data.topic),
    ).toContain('run_completed');
    expect(
      new Set(
        itemAt(all, 1)
          .events.slice(1)
          .map(({ event }) => event),
      ),
    ).toEqual(new Set(['wait']));
    expect(itemAt(all, 2).events.map(({ event }) => event)).toEqual(['open']);
  });

  // Guards: events of another workspace are in no stream, whether they are past or come while it is open.
  test('shows nothing of another workspace', async () => {
    const other = await service.tenant(`acc_other${split ? '2' : '1'}`);
    const streamsOfOther = [
      await follow('', { session: other.session }),
      await follow('?after=0', { session: other.session }),
    ];
    const own = await follow();
    await note('of-live');
    await note('of-other', other.caller.customerId);
    for (const stream of streamsOfOther) {
      await stream.first(isAbout('of-other'));
      expect(stream.events.map(({ event }) => event)).toEqual(['open', 'wait']);
    }
    await own.first(isAbout('of-live'));
    expect(own.events.some(isAbout('of-other'))).toBe(false);
  });

  // Guards: a text that is no cursor is refused in words, and so are a cursor of a place that is not reached yet and an unknown kind.
  test('refuses cursors and kinds that it does not know', async () => {
    for (const after of ['nonsense', '2-a-b', '1-zzzzzzzz-1', '1--', '%00']) {
      const { status, body } = await tenant.cp('GET', `/v1/live?after=${after}`);
      expect([after, status]).toEqual([after, 422]);
      if (after !== '%00') expect(body).toEqual({ detail: expect.stringMatching(/^cursor_unknown: /) });
    }
    expect(await tenant.cp('GET', '/v1/live?kind=run,nonsense')).toMatchObject({ status: 422 });
  });

  // Guards: no workspace takes all the streams of a process, and no process more than it can serve; the refusal says which.
  test('limits how many there are', async () => {
    const opened = await Promise.all(Array.from({ length: 6 }, () => follow()));
    await Promise.all(opened.map((stream) => stream.first(isOf('open'))));
    const refused = await tenant.cp('GET', '/v1/live');
    expect(refused).toMatchObject({
      status: 429,
      body: { detail: { code: 'too_many_streams', scope: 'workspace', limit: 6 } },
    });
    expect(refused.headers.get('retry-after')).toBe('5');
    const others = await service.tenant(`acc_limited${split ? '2' : '1'}`);
    for (let n = 0; n < 2; n++) await (await follow('', { session: others.session })).first(isOf('open'));
    expect(await others.cp('GET', '/v1/live')).toMatchObject({
      status: 429,
      body: { detail: { scope: 'process', limit: 8 } },
    });
    // Room again as soon as one is gone: asked until the server has seen that it is.
    await itemAt(opened, 0).close();
    for (let stream; !stream;) {
      stream = await follow();
      if (stream.response.status !== 200) stream = undefined;
    }
  });

  // Guards: when a session is ended its streams end, and those of other sessions go on.
  test('ends with its session', async () => {
    const session = sessionFor({ ...tenant.caller, actor: 'leaves@live.example' });
    const [leaving, staying] = [await follow('', { session }), await follow()];
    await leaving.first(isOf('open'));
    await service.services.signIn.sessions.end(session, { everywhere: false });
    await leaving.ended;
    expect(leaving.events.at(-1)).toMatchObject({ event: 'end', data: { reason: 'signed_out' } });
    await note('after-sign-out');
    await staying.first(isAbout('after-sign-out'));
    expect((await follow('', { session })).response.status).toBe(401);
  });
});

// Guards: a client whose cursor is older than what is kept is told of a gap, and the stream goes on with the events that there
// are. The same holds for a cursor of an earlier life of the workspace. Streams end after their time and when the process
// ends, with a word from which clients resume.
describe('on its own', () => {
  // Guards: events before a gap that are still kept are told once, before the gap. A client whose connection broke between them
  // is told of the gap when it resumes.
  test('has what is left of before a gap', async () => {
    const before = await follow();
    const { id: cursor } = await before.first(isOf('open'));
    for (const subject of ['old-1', 'old-gone', 'old-2', 'new']) await note(subject);
    await before.first(isAbout('new'));
    const [, left] = before.events;
    const {
      rows: [gone],
    } = {
      rows: await service.runtime.db.rows<{ tx: number }>(sql`
      delete from log_events where subject = 'old-gone' returning tx::float8 as tx`),
    };
    await service.runtime.db.rows(sql`
      update workspaces set events_from = ${present(gone).tx + 1} where customer_id = 'live'`);
    const subjects = async (after: string) => {
      const stream = await follow(`?after=${after}`);
      await stream.first(isAbout('new'));
      return stream.events.slice(1).map(({ event, data }) => (event === 'gap' ? 'gap' : data.event.id));
    };
    expect(await subjects(present(cursor))).toEqual(['old-1', 'gap', 'old-2', 'new']);
    expect(await subjects(present(present(left).id))).toEqual(['gap', 'old-2', 'new']);
  });

  beforeAll(async () => {
    service = await startTestService({ worker: false, env: { LIVE_STREAM_LIFE: '1h' } });
    tenant = await service.tenant('acc_live');
  });
  afterAll(() => service?.close());

  test('says where something is missing', async () => {
    const before = await follow();
    const { id: cursor } = await before.first(isOf('open'));
    await note('gone');
    await before.first(isAbout('gone'));
    await service.runtime.db.rows(sql`delete from log_events where subject = 'gone'`);
    await service.runtime.db.rows(sql`update workspaces set events_from = event_tx() where customer_id = 'live'`);
    await note('kept');
    const after = await follow(`?after=${cursor}`);
    await after.first(isAbout('kept'));
    expect(after.events.map(({ event }) => event)).toEqual(['open', 'gap', 'wait']);
    const gap = itemAt(after.events, 1);
    expect(gap).toMatchObject({ id: gap.data.kept_from, data: { after: cursor } });
    // Whoever was told of it is not told again, wherever the connection broke after it; and has all that there is.
    for (const [left, rest] of [
      [gap.id, ['open', 'wait']],
      [itemAt(after.events, 2).id, ['open', 'wait']],
    ] as const) {
      if (left !== gap.id) await note('later');
      const again = await follow('', { headers: { 'last-event-id': present(left) } });
      await again.first(isAbout(left === gap.id ? 'kept' : 'later'));
      expect(again.events.map(({ event }) => event)).toEqual(rest);
    }
  });

  test('a process that stops ends its streams', async () => {
    const stream = await follow();
    await stream.first(isOf('open'));
    service.services.live.close();
    await stream.ended;
    expect(stream.events.at(-1)).toEqual({ event: 'end', data: { reason: 'shutdown' } });
    // Browsers wait as long as they are told before they connect again.
    expect(stream.text()).toMatch(/event: end\nretry: 1000\ndata: \{"reason":"shutdown"\}\n\n$/);
    const late = await follow();
    await late.ended;
    expect(late.events.map(({ event }) => event)).toEqual(['open', 'end']);
  });
});
