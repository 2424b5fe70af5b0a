/** How a stream is sent, whatever it is of. */
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import { getEventListeners, once } from 'node:events';
import type { Server } from 'node:http';
import { present } from '../../../src/platform/core/present.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import type { EventStream } from '../../../src/platform/http/endpoint.ts';
import { createStreamSender } from '../../../src/platform/http/stream.ts';
import { openStream } from '../../support/http/event-stream.ts';
import { portOf } from '../../support/processes/listening.ts';
import { eventually } from '../../support/service/service.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Sends each caller a stream. @returns its address */
async function serve(stream: EventStream, ...[times, admit = async () => {}]: Partial<Terms>): Promise<string> {
  const send = createStreamSender(times);
  server = express()
    .get('/', (request, response, next) => void send(request, response, stream, admit).catch(next))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${portOf(present(server))}/`;
}

type Terms = [times: Parameters<typeof createStreamSender>[0], admit: () => Promise<void>];

/** Streams that say nothing until their reader is gone. @returns how many there are */
async function serveSilent(...terms: Terms) {
  let open = 0;
  const silent = async function* (gone: AbortSignal) {
    open += 1;
    try {
      if (!gone.aborted) await once(gone, 'abort');
      yield '';
    } finally {
      open -= 1;
    }
  };
  return { url: await serve(silent, ...terms), open: () => open };
}

// Guards: a stream in which nothing happens says again and again that it is alive, in a way that no client takes for an event;
// and is given up when its reader goes.
test('says that it is alive', async () => {
  const { url, open } = await serveSilent({ heartbeatMs: 5 }, async () => {});
  const stream = await openStream(url, {});
  await eventually(() => expect(stream.text()).toMatch(/^(:\n\n){3,}$/));
  expect(stream.events).toEqual([]);
  await stream.close();
  await eventually(() => expect(open()).toBe(0));
});

// Guards: whoever may not read any more is told so and cut off, with all the streams of the credential and no others; that the
// database is away ends nobody's.
test('ends when its caller may not read any more', async () => {
  let asked = 0;
  let answer: () => Promise<void> = () => Promise.reject(new Error('the database is away'));
  const { url, open } = await serveSilent({ admissionMs: 5 }, () => {
    asked += 1;
    return answer();
  });
  const streams = [await openStream(url, {}), await openStream(url, {})];
  await eventually(() => expect(asked).toBeGreaterThan(2));
  expect(open()).toBe(2);
  answer = () => Promise.reject(new Problem('auth_required'));
  for (const stream of streams) {
    await stream.ended;
    expect(stream.events).toEqual([{ event: 'end', data: { reason: 'signed_out' } }]);
  }
  await eventually(() => expect(open()).toBe(0));
});

// Guards against: a stream whose reader is slower than what there is to say holds something more with each thing it says.
test('waits for its reader without a trace', async () => {
  const frame = `:${' '.repeat(1_000_000)}\n\n`;
  const listeners: number[] = [];
  const url = await serve(async function* (gone) {
    for (let i = 0; i < 20; i++) {
      listeners.push(getEventListeners(gone, 'abort').length);
      yield frame;
    }
  });
  expect(await (await fetch(url)).text()).toHaveLength(20 * frame.length);
  expect(listeners).toEqual(Array(20).fill(0));
});
