/** Answers that come in many small parts: a stream of events is read to its end, anything else is given as it came. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Gather } from '../../../src/platform/egress/gathered.ts';
import { answerLimits, plainFetch } from '../../../src/platform/egress/limits.ts';
import { portOf } from '../../support/processes/listening.ts';
import { eventually } from '../../support/service/service.ts';

const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const settings = { RESPONSE_MAX_MB: 1, RESPONSE_TIMEOUT: 10_000 };
let heard: string[];
beforeEach(() => void (heard = []));
const shouting: Gather = () => ({
  take: (text) => void heard.push(text),
  end: () => `${heard.join('').toUpperCase()}end`,
});

/** Those that were begun. */
const endless: ServerResponse[] = [];
const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  '/events': (response) => response.end('data: a\n\n'),
  '/packed': (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('data: a\n\n')),
  '/frames': (response) => response.setHeader('content-type', 'application/vnd.amazon.eventstream').end(BYTES),
  '/refused': (response) => response.writeHead(400).end('data: no\n\n'),
  '/redirect': (response) => response.writeHead(307, { location: '/events' }).end('data: elsewhere\n\n'),
  '/letters': (response) => void inParts(response, Buffer.from('data: é😀\n\n')),
  '/cut': (response) => response.write('data: a\n\n', () => response.destroy()),
  '/endless'(response) {
    endless.push(response);
    response.write('data: a\n\n');
  },
  '/long': (response) => response.end('data: abc\n\n'.repeat(200_000)),
};
async function inParts(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    response.write(Buffer.of(byte));
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  response.end();
}

const server = createServer(({ url = '/' }, response) => {
  response.setHeader('content-type', 'text/event-stream; charset=utf-8');
  ANSWERS[url]?.(response);
});
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const ask = (path: string, { gather = shouting, init = {}, totalMs = 10_000 } = {}): Promise<Response> =>
  plainFetch(settings)(`http://127.0.0.1:${portOf(server)}${path}`, init, {
    ...answerLimits(settings),
    totalMs,
    gather,
  });

test.each(['/events', '/packed', '/redirect'])('reads a stream of events: %s', async (path) => {
  expect(await (await ask(path)).text()).toBe('DATA: A\n\nend');
});

// Guards: a letter is read whole, wherever its bytes are cut.
test('takes letters of several bytes in parts', async () => {
  expect(await (await ask('/letters')).text()).toBe('DATA: É😀\n\nend');
  expect(heard.length).toBeGreaterThan(1);
});

// Guards: a protocol whose frames are no text (Bedrock's) is not taken for one that is, nor is a refusal for a reply.
test('gives anything else as it came', async () => {
  expect(Buffer.from(await (await ask('/frames')).arrayBuffer())).toEqual(BYTES);
  const refusal = await ask('/refused');
  expect([refusal.status, await refusal.text()]).toEqual([400, 'data: no\n\n']);
  expect(heard).toEqual([]);
});

// Guards: what came before the end of a stream that was cut is read, and then that it was cut.
test('tells that a stream was cut after what came before', async () => {
  const reader = (await ask('/cut')).body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('DATA: A\n\nend');
  await expect(reader?.read()).rejects.toThrow('terminated');
});

// Guards: a limit, a fault of the reader and whoever gives up end the request, and nobody waits for an answer.
test('ends the request', async () => {
  await expect(ask('/long')).rejects.toThrow(/more than 1 MB/);
  await expect(ask('/endless', { totalMs: 200 }).then((answer) => answer.text())).rejects.toMatchObject({
    cause: { message: expect.stringContaining('within 0.2 seconds') },
  });
  const faulty: Gather = () => ({
    take() {
      throw new Error('enough');
    },
    end: () => '',
  });
  await expect(ask('/endless', { gather: faulty })).rejects.toThrow('enough');
  const stop = new AbortController();
  const asked = ask('/endless', { init: { signal: stop.signal } }).then((answer) => answer.text());
  setTimeout(() => stop.abort(new Error('given up')), 100);
  await expect(asked).rejects.toThrow();
  await eventually(() => expect(endless.map(({ closed }) => closed)).toEqual([true, true, true]));
});

// Guards: an answer whose body nobody wants ends its connection, and not the process.
test('an answer can be given up', async () => {
  for (const path of ['/frames', '/refused', '/events']) await (await ask(path)).body?.cancel();
  const answer = await ask('/redirect', { init: { redirect: 'error' } }).catch((error: unknown) => error);
  expect(String(answer)).toContain('redirect');
});
