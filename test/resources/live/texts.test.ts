/** Text while it is written: who watches reads along, who does not costs nothing, and no fact depends on it. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import { answer, answerWhen, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { openStream, type OpenStream, type SentEvent } from '../../support/http/event-stream.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let provider: OpenAiServer;
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: {
      LIVE_STREAM_LIFE: '1h',
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
    },
  });
  tenant = await service.tenant('acc_reads');
});
const streams: OpenStream[] = [];
beforeEach(() => provider.reset());
afterEach(async () => {
  await Promise.all(streams.splice(0).map((stream) => stream.close()));
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

async function follow(query: string, { session } = tenant) {
  const url = `${service.baseUrl}/api/v1/cp/v1/live${query}`;
  const stream = await openStream(url, { cookie: `service_session=${session}` });
  streams.push(stream);
  await stream.first(({ event }) => event === 'open');
  return stream;
}
const dispatch = async (prompt = 'Write.'): Promise<string> => {
  const { body } = await tenant.api('POST', '/v1/runs', { agent: 'assistant', prompt });
  return body.run_id;
};
const isEnd = ({ event, data }: SentEvent) => event === 'run' && data.topic === 'run_completed';
/** As a client puts it together. */
function textIn(events: readonly SentEvent[], runId?: string): string {
  let text = '';
  for (const { event, data } of events) {
    if (event === 'text' && (runId === undefined || data.run_id === runId))
      text = text.slice(0, data.offset) + data.text;
  }
  return text;
}
const written = async (): Promise<number> => {
  const row = first(await service.runtime.db.rows<{ n: number }>(sql`select count(*)::int as n from run_texts`));
  return row.n;
};

// Guards: whoever follows a run reads what its model writes while it writes it, also a client that comes in the middle. The
// whole text is there before its turn is told to be over, and no row of it stays.
test('is read along', async () => {
  const due = new Map<string, () => void>();
  const pieces = ['Once upon', ' a \ud83d\ude00 time', ' it ended.'];
  provider.script(answerWhen(pieces, (piece) => new Promise((resolve) => due.set(piece, resolve))));
  const runId = await dispatch();
  await provider.received(1);
  const early = await follow(`?run_id=${runId}`);
  present(due.get('Once upon'))();
  await early.first(({ event, data }) => event === 'text' && data.text === 'Once upon');
  const late = await follow(`?run_id=${runId}`);
  expect(await late.first(({ event }) => event === 'text')).toMatchObject({
    data: { run_id: runId, project_id: null, turn: 1, attempt: 1, offset: 0, text: 'Once upon' },
  });
  await eventually(async () => present(due.get(itemAt(pieces, 1)))());
  await early.first(() => textIn(early.events) === 'Once upon a \ud83d\ude00 time');
  await eventually(async () => present(due.get(itemAt(pieces, 2)))());
  for (const stream of [early, late]) {
    await stream.first(isEnd);
    const before = stream.events.findIndex(({ event, data }) => event === 'run' && data.topic === 'claude_iteration');
    expect(textIn(stream.events.slice(0, before))).toBe(pieces.join(''));
    expect(stream.events.filter(({ event }) => event === 'text').every(({ id }) => id === undefined)).toBe(true);
  }
  await eventually(async () => expect(await written()).toBe(0));
});

// Guards: the text of a run is written down nowhere while nobody watches it, or while those who follow want no texts or follow
// another workspace.
test('is not written where nobody watches', async () => {
  const other = await service.tenant('acc_elsewhere');
  const streamsWithout = [await follow('?kind=run'), await follow('?text=true', other)];
  let finish = () => {};
  provider.script(
    answerWhen(['Once', ' upon'], (piece) =>
      piece === 'Once' ? Promise.resolve() : new Promise((go) => (finish = go)),
    ),
  );
  const statements: string[] = [];
  const { write } = service.services.texts;
  service.services.texts.write = async (texts) => {
    statements.push(...texts.map(({ text }) => text));
    await write(texts);
  };
  const run = dispatch();
  await provider.received(1);
  // The worker has looked whether somebody watches, and will have found nobody.
  let looks = 0;
  const { filterWatched } = service.services.texts;
  await new Promise<void>((resolve) => {
    service.services.texts.filterWatched = async (watches) => {
      if (++looks === 3) resolve();
      return filterWatched(watches);
    };
  });
  finish();
  await tenant.waitForRun(await run);
  Object.assign(service.services.texts, { write, filterWatched });
  expect(statements).toEqual([]);
  expect(await written()).toBe(0);
  await first(streamsWithout).first(isEnd);
  for (const { events } of streamsWithout) expect(events.filter(({ event }) => event === 'text')).toEqual([]);
});

// Guards: the offline model, which knows its answer at once, gives it out in pieces where it is watched, as a real one does.
test('of the offline model comes in pieces', async () => {
  const offline = await startTestService({ env: { LIVE_STREAM_LIFE: '1h' } });
  try {
    const alone = await offline.tenant('acc_alone');
    const stream = await openStream(`${offline.baseUrl}/api/v1/cp/v1/live?text=true`, {
      cookie: `service_session=${alone.session}`,
    });
    await stream.first(({ event }) => event === 'open');
    await eventually(async () => {
      const [watch] = await offline.runtime.db.rows<{ watched: string }>(sql`select watched from text_watches`);
      expect(watch).toEqual({ watched: '*' });
    });
    const run = await alone.run({ agent: 'assistant', prompt: 'Say something about bread.' });
    await stream.first(isEnd);
    expect(textIn(stream.events, run.run_id)).toBe(run.output);
    expect(stream.events.filter(({ event }) => event === 'text').length).toBeGreaterThan(1);
    await stream.close();
  } finally {
    await offline.close();
  }
});

// Guards: an answer in a conversation is read along as it is written, by whoever follows its run or the workspace; what is asked
// meanwhile waits for its turn and is read along then; and the conversation has each text whole.
test('of a conversation is read along', async () => {
  const due = new Map<string, () => void>();
  const pieces = ['First,', ' the oven.', 'Then,', ' the bread.'];
  const written = (some: string[]) => answerWhen(some, (piece) => new Promise((go) => due.set(piece, go)));
  provider.script(written(pieces.slice(0, 2)), written(pieces.slice(2)));
  const release = (piece: string) => eventually(async () => present(due.get(piece))());
  const thread = (await tenant.cp('POST', '/v1/chat/threads', { title: 'Bread', agent: 'assistant' })).body.id;
  const ask = async (content: string): Promise<string> =>
    (await tenant.cp('POST', `/v1/chat/threads/${thread}/messages`, { content })).body.run_id;
  const workspace = await follow('?text=true');
  const one = await ask('What comes first?');
  const two = await ask('And then?');
  const ofOne = await follow(`?run_id=${one}`);
  await release('First,');
  for (const stream of [workspace, ofOne]) await stream.first(() => textIn(stream.events, one) === 'First,');
  expect(textIn(workspace.events, two)).toBe('');
  await release(' the oven.');
  await ofOne.first(isEnd);
  expect(textIn(ofOne.events)).toBe('First, the oven.');
  const ofTwo = await follow(`?run_id=${two}`);
  await release('Then,');
  for (const stream of [workspace, ofTwo]) await stream.first(() => textIn(stream.events, two) === 'Then,');
  await release(' the bread.');
  await ofTwo.first(isEnd);
  await workspace.first(({ event, data }) => isEnd({ event, data }) && data.run_id === two);
  expect([one, two].map((run) => textIn(workspace.events, run))).toEqual(['First, the oven.', 'Then, the bread.']);
  const { body } = await tenant.cp('GET', `/v1/chat/threads/${thread}/messages`);
  expect(body.data.map(({ content }: { content: string }) => content)).toEqual(
    expect.arrayContaining(['First, the oven.', 'Then, the bread.']),
  );
});

// Guards: where texts cannot be written or read, runs and events go on as if nobody watched.
test('no fact depends on it', async () => {
  const stream = await follow('?text=true');
  const { write } = service.services.texts;
  service.services.texts.write = () => Promise.reject(new Error('no room'));
  provider.script(answer('All the same.'));
  const runId = await dispatch();
  expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded', output: 'All the same.' });
  await stream.first(isEnd);
  service.services.texts.write = write;
});
