/** How the client deals with a network and a service that are away for a moment: against a server with a script of answers. */
import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { runsList } from '../../client/src/api.ts';
import { ConnectionError, createClient, isProblem, RequestTimeoutError } from '../../client/src/index.ts';
import { first, present } from '../../src/platform/core/present.ts';
import { portOf } from '../support/processes/listening.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
/** The connection breaks: nobody knows whether it was done. */
const broken: Answer = (response) => void response.destroy();
const ACCEPTED = json(201, { run_id: 'r1', status: 'queued' });
const AWAY = json(503, { detail: 'database_unreachable' }, { 'retry-after': '0' });
const healthz = (extensions?: string): Answer =>
  json(200, {}, extensions === undefined ? {} : { 'x-service-extensions': extensions });

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** @param answers by path, one after another; the last one again */
async function serve(answers: Record<string, Answer[]>) {
  const asked: { path: string; key: string | undefined }[] = [];
  server = createServer((request, response) => {
    const path = first(present(request.url).split('?'));
    asked.push({ path, key: request.headers['idempotency-key'] as string | undefined });
    request.resume();
    const script = answers[path] ?? [json(404, { detail: 'not_found' })];
    (script.length > 1 ? present(script.shift()) : first(script))(response, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${portOf(server)}`;
  const aos = createClient({ baseUrl, apiKey: 'svc_pk_test', session: 'a.b', timeoutMs: 5_000 });
  const of = (path: string) => asked.filter((one) => one.path === path);
  return { baseUrl, aos, of };
}

const RUNS = '/api/v1/cp/v1/runs';

// Guards: a request that was lost is sent again under one key, where the service knows keys.
test.each([
  ['the connection broke', broken],
  ['the service was away', AWAY],
])('a run is started once more when %s', async (_what, failure) => {
  const { aos, of } = await serve({ [RUNS]: [failure, failure, ACCEPTED], '/healthz': [healthz('idempotency, sse')] });
  const run = await aos.runs.start({ prompt: 'x' });
  expect(run.id).toBe('r1');
  const keys = of(RUNS).map(({ key }) => key);
  expect(keys).toHaveLength(3);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(keys).size).toBe(1);
});

// Guards: a request whose repeat could start a second run is not repeated, and the caller is told that the run may
// exist.
test('a run is not started twice by a service that knows no keys', async () => {
  const { aos, of } = await serve({ [RUNS]: [broken, ACCEPTED], '/healthz': [healthz()] });
  const error = await aos.runs.start({ prompt: 'x' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ mayHaveBeenDone: true });
  expect(of(RUNS)).toHaveLength(1);
});

// Guards: a service that does not answer whether it knows keys is treated as one that does not.
test('nor while it cannot be asked', async () => {
  const { aos, of } = await serve({ [RUNS]: [AWAY, ACCEPTED], '/healthz': [json(503, {})] });
  await expect(aos.runs.start({ prompt: 'x' })).rejects.toMatchObject({ code: 'database_unreachable' });
  expect(of(RUNS)).toHaveLength(1);
});

test('a key of the caller is sent as it is', async () => {
  const { aos, of } = await serve({ [RUNS]: [ACCEPTED] });
  await aos.runs.start({ prompt: 'x' }, { idempotencyKey: 'order-17' });
  expect(of(RUNS)).toEqual([{ path: RUNS, key: 'order-17' }]);
});

// Guards: reads are repeated whatever the service knows, but not for ever.
test('reads are repeated, to an end', async () => {
  const { aos, of } = await serve({ [RUNS]: [AWAY, broken, json(200, { data: [] })] });
  await expect(runsList({ client: aos.http })).resolves.toEqual({ data: [] });
  expect(of(RUNS)).toHaveLength(3);
  const away = await serve({ [RUNS]: [AWAY] });
  const error: unknown = await runsList({ client: away.aos.http }).catch((thrown: unknown) => thrown);
  expect(isProblem(error, 'database_unreachable')).toBe(true);
  expect(away.of(RUNS)).toHaveLength(4);
});

test('a service that is not there is told from one that may have done it', async () => {
  const { aos } = await serve({});
  present(server).close();
  await once(present(server), 'close');
  await expect(aos.runs.start({ prompt: 'x' })).rejects.toMatchObject({ mayHaveBeenDone: false });
});

// Guards: no call waits longer than its limit, and a caller that gives up is released at once.
test('an attempt has an end, and so has the caller’s patience', async () => {
  const { baseUrl } = await serve({ [RUNS]: [() => {}] });
  const hasty = createClient({ baseUrl, session: 'a.b', timeoutMs: 20, retries: 0 });
  await expect(runsList({ client: hasty.http })).rejects.toThrow(RequestTimeoutError);
  const aos = createClient({ baseUrl, session: 'a.b' });
  const stop = new AbortController();
  const asking = runsList({ client: aos.http, signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(asking).rejects.toThrow('enough');
});

test('an answer that is not the service’s is told as it is', async () => {
  const { aos } = await serve({
    [RUNS]: [(response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nginx</h1>')],
  });
  await expect(runsList({ client: aos.http })).rejects.toMatchObject({
    code: 'unknown',
    status: 404,
    detail: '<h1>nginx</h1>',
  });
});

// Guards: a stream that ends or breaks continues after the last event that came, however often.
test('a stream is resumed', async () => {
  const LIVE = '/api/v1/cp/v1/live';
  const resumed: (string | undefined)[] = [];
  const stream =
    (text: string, isCut = false): Answer =>
    (response, request) => {
      resumed.push(request.headers['last-event-id'] as string | undefined);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text, () => (isCut ? response.destroy() : response.end()));
    };
  const event = (id: string) => `id: ${id}\nevent: wait\ndata: ${JSON.stringify({ kind: 'wait', cursor: id })}\n\n`;
  const { aos } = await serve({
    [LIVE]: [
      stream(
        `retry: 1\n\nid: c0\nevent: open\ndata: {"cursor":"c0"}\n\n${event('c1')}:\n\n${event('c2')}id: c3\nevent: wait\nda`,
        true,
      ),
      AWAY,
      stream(`event: news\ndata: {"n":1}\n\n${event('c3')}event: end\ndata: {"reason":"life"}\n\n`),
      stream(event('c4')),
    ],
  });
  const cursors: string[] = [];
  const unknown: unknown[] = [];
  for await (const item of aos.live()) {
    if (item.kind === 'unknown') unknown.push(item);
    else if ('cursor' in item) cursors.push(item.cursor);
    if (cursors.at(-1) === 'c4') break;
  }
  expect(cursors).toEqual(['c0', 'c1', 'c2', 'c3', 'c4']);
  // What a newer service tells is handed on as what it is, and never taken for something else.
  expect(unknown).toEqual([{ kind: 'unknown', name: 'news', cursor: undefined, data: { n: 1 } }]);
  expect(resumed).toEqual([undefined, 'c2', 'c3']);
});

// Guards: with a key a run is followed at its own address where that gives a stream: over as many connections as it takes, each
// change of its status once, to its end, and nothing is asked beside it.
test('the state of a run is streamed', async () => {
  const RUN = '/v1/runs/r1';
  const state = (status: string) =>
    `event: status\ndata: ${JSON.stringify({ run_id: 'r1', status, output: null })}\n\n`;
  const stream =
    (text: string): Answer =>
    (response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`retry: 1\n\n${text}`);
  const piece = { run_id: 'r1', project_id: null, turn: 1, attempt: 1, offset: 0, text: 'Once' };
  const script = () => [
    stream(state('running')),
    stream(`${state('running')}event: text\ndata: ${JSON.stringify(piece)}\n\n`),
    stream(`${state('running')}${state('succeeded')}event: end\ndata: {"reason":"ended"}\n\n`),
  ];
  const { baseUrl, of } = await serve({ [RUN]: [...script(), ...script()] });
  const aos = createClient({ baseUrl, apiKey: 'svc_pk_test' });
  const told: unknown[] = [];
  for await (const update of aos.runs.open('r1').events({ text: true }))
    told.push(update.kind === 'text' ? update.piece : update.kind === 'status' && update.run.status);
  expect(told).toEqual(['running', piece, 'succeeded']);
  expect(of(RUN)).toHaveLength(3);
  const quiet: string[] = [];
  for await (const { kind } of aos.runs.open('r1').events()) quiet.push(kind);
  expect(quiet).toEqual(['status', 'status']);
});

// Guards: where there is no stream at the address, what it answered is used, and it is asked again until the run has ended.
test('or read again and again', async () => {
  const RUN = '/v1/runs/r1';
  const state = (status: string) => json(200, { run_id: 'r1', status, output: 'done' });
  const { baseUrl, of } = await serve({ [RUN]: [state('queued'), state('running'), state('succeeded')] });
  const { output } = await createClient({ baseUrl, apiKey: 'svc_pk_test' }).runs.open('r1').result();
  expect(output).toBe('done');
  expect(of(RUN)).toHaveLength(3);
});
