/** The client where the service has streams at its documented addresses too, and texts while they are written. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createClient, type Client, type TextPiece } from '../../client/src/index.ts';
import { first, last, present } from '../../src/platform/core/present.ts';
import { answer, answerWhen, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let provider: OpenAiServer;
let service: TestService;
let tenant: Tenant;
/** Addresses that were asked for, of the service. */
const asked: string[] = [];
let byKey: Client;
let bySession: Client;

beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: {
      EXTENSIONS: 'sse',
      LIVE_STREAM_LIFE: '1h',
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
    },
  });
  tenant = await service.tenant('acc_client_streams');
  const noting: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    asked.push(pathname + search);
    return fetch(input, init);
  };
  byKey = createClient({ baseUrl: service.baseUrl, apiKey: tenant.apiKey, fetch: noting });
  bySession = createClient({ baseUrl: service.baseUrl, session: tenant.session, fetch: noting });
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});
beforeEach(() => {
  provider.reset();
  asked.length = 0;
});

/** Gives out an answer piece by piece, each when it is said. */
function scriptPieces(pieces: readonly string[]): (piece: string) => Promise<void> {
  const due = new Map<string, () => void>();
  provider.script(answerWhen([...pieces], (piece) => new Promise((resolve) => due.set(piece, resolve))));
  return (piece) => eventually(async () => present(due.get(piece))());
}
const PIECES = ['Once upon', ' a time'];
const watches = () => service.runtime.db.rows(sql`select watched from text_watches`);

// Guards: whoever asks for it reads what a model writes while it writes it, with either credential, in pieces that make up the
// output; with a key all of it comes at one address, asked for once.
test.each([
  ['an API key', () => byKey],
  ['a session', () => bySession],
])('a text is read along with %s', async (_name, client) => {
  const say = scriptPieces(PIECES);
  const run = await client().runs.start({ agent: 'assistant', prompt: 'Write.' });
  let text = '';
  const read: TextPiece[] = [];
  const kinds = new Set<string>();
  for await (const update of run.events({ text: true })) {
    if (kinds.size === 0) await say(first(PIECES));
    kinds.add(update.kind);
    if (update.kind !== 'text') continue;
    read.push(update.piece);
    text = text.slice(0, update.piece.offset) + update.piece.text;
    if (text === first(PIECES)) await say(last(PIECES));
  }
  expect(text).toBe(PIECES.join(''));
  expect(read.every(({ run_id, turn, attempt }) => run_id === run.id && turn === 1 && attempt === 1)).toBe(true);
  expect((await run.result()).output).toBe(text);
  if (client() === byKey)
    expect(asked).toEqual(['/v1/runs', `/v1/runs/${run.id}?text=true`, `/v1/runs/${run.id}?text=false`]);
});

// Guards: a run that is followed or awaited without its texts is not written down anywhere, with either credential.
test('nobody who does not ask for texts has them written', async () => {
  provider.script(answer('Said.'));
  await service.runtime.db.rows(sql`delete from text_watches`);
  const run = await bySession.runs.start({ agent: 'assistant', prompt: 'Write.' });
  for await (const update of run.events()) expect(update.kind).toBe('event');
  expect(asked.filter((path) => path.includes('/v1/live'))).toEqual([expect.stringContaining('text=false')]);
  provider.script(answer('Said.'));
  const again = await byKey.runs.start({ agent: 'assistant', prompt: 'Write.' });
  for await (const update of again.events()) expect(update.kind).toBe('status');
  expect((await again.result()).output).toBe('Said.');
  expect(asked).toContain(`/v1/runs/${again.id}?text=false`);
  expect(await watches()).toEqual([]);
});

// Guards: a project is followed with a key at its own address, each change of its status once, and its end is awaited there.
test('a project is followed with a key', async () => {
  const project = await byKey.projects.start({ workflow: 'blog-post', brief: 'x', params: { length_words: 300 } });
  const statuses: string[] = [];
  const completed = project.completed().catch((error: unknown) => error);
  for await (const update of project.events()) {
    if (update.kind !== 'status') continue;
    statuses.push(update.project.status);
    if (statuses.length === 1) await tenant.cp('POST', `/v1/projects/${project.id}/abandon`);
  }
  expect(new Set(statuses).size).toBe(statuses.length);
  expect(statuses.at(-1)).toBe('abandoned');
  expect(await completed).toMatchObject({ name: 'ProjectAbandonedError' });
  expect(asked.filter((path) => path === `/v1/projects/${project.id}?text=false`)).toHaveLength(2);
});
