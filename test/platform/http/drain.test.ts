/** A listener that stops leaves no request without an answer, whatever its connections are at. */
import { afterEach, expect, test } from '@jest/globals';
import { Router } from 'express';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { listen, type HttpListener } from '../../../src/platform/http/server.ts';
import { keepBusy } from '../../support/http/busy.ts';

const GRACE_MS = 20_000;
const CONNECTIONS = 8;

const listeners: HttpListener[] = [];
let release: (() => void) | undefined;
afterEach(async () => {
  release?.();
  await Promise.all(listeners.splice(0).map((each) => each.close(0)));
});

async function start(): Promise<HttpListener> {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  release = resolve;
  const router = Router()
    .get('/slow', async (_request, response) => void response.end(await released.then(() => 'slow')))
    .get('/begun', async (_request, response) => {
      response.write('a');
      await released;
      response.end('b');
    })
    .get('/quick', (_request, response) => void setImmediate(() => response.end('quick')));
  const listener = await listen({
    port: 0,
    setting: 'PORT',
    host: '127.0.0.1',
    log: pino({ level: 'silent' }),
    ready: async () => {},
    routers: [router],
  });
  listeners.push(listener);
  return { ...listener, url: listener.url.replace('localhost', '127.0.0.1') };
}

async function connected(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}
const asks = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
async function said(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString().toLowerCase();
}

// Guards: connections that are kept alive and busy are told to go, and none of their requests is cut.
test.each([0, 300])('eight busy connections, and %d ms for a load balancer', async (delayMs) => {
  const [{ url, close }, other] = [await start(), await start()];
  const busy = keepBusy(
    [url, other.url].map((each) => `${each}/quick`),
    CONNECTIONS,
  );
  while (busy.answered < 200) await wait(10);
  expect(busy.last).toBe(0);
  await close(GRACE_MS, delayMs);
  await busy.end();
  expect(busy.lost).toEqual([]);
  expect(busy.last).toBe(CONNECTIONS);
});

// Guards: clients that never let go of their connections, and know of no other place, do not hold up the end.
test('eight busy connections to what has gone', async () => {
  const { url, close } = await start();
  const busy = keepBusy([`${url}/quick`], CONNECTIONS);
  while (busy.answered < 200) await wait(10);
  await close(GRACE_MS);
  expect(performance.now() - busy.latestAt).toBeLessThan(GRACE_MS / 2);
  await busy.end();
  expect(busy.lost).toEqual([]);
});

// Guards: whoever looks at readiness sees it at once, and is still served for so long.
test('/readyz says 503 from then on, and new connections are taken until the delay is over', async () => {
  const { url, close } = await start();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const closed = close(GRACE_MS, 1_000);
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect(await (await fetch(`${url}/quick`)).text()).toBe('quick');
  await closed;
  await expect(fetch(`${url}/quick`)).rejects.toThrow('fetch failed');
});

// Guards: a proxy that does not look at readiness keeps its connections for the delay, and has let go of those that it does not use
// before they are closed: whatever it sends on one of them is answered.
test('connections are served as ever during the delay, and those in use after it', async () => {
  const { url, close } = await start();
  const [used, idle] = [await connected(url), await connected(url)];
  const asked = async (socket: Socket) => {
    socket.write(asks('/quick'));
    return /connection: ([\w-]+)/.exec(await said(socket))?.[1];
  };
  await asked(idle);
  const closed = close(GRACE_MS, 1_000);
  await wait(800);
  expect(await asked(used)).toBe('keep-alive');
  await wait(900);
  expect(await asked(used)).toBe('close');
  expect(idle.closed).toBe(true);
  await closed;
});

// Guards: a connection at which nothing is asked does not hold up the end, whether it ever asked anything or not.
test('idle connections are closed', async () => {
  const { url, close } = await start();
  const [silent, used] = [await connected(url), await connected(url)];
  used.write(asks('/quick'));
  expect(await said(used)).toContain('connection: keep-alive');
  const ends = Promise.all([silent, used].map((socket) => once(socket, 'close')));
  await close(GRACE_MS);
  await ends;
});

// Guards: a request that has begun has its answer, the whole of it, and the connection ends with that.
test.each(['/slow', '/begun'])('%s is answered to its end', async (path) => {
  const { url, close } = await start();
  const socket = await connected(url);
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString().toLowerCase()));
  const ends = once(socket, 'close');
  socket.write(asks(path));
  await wait(100);
  const closed = close(GRACE_MS);
  await wait(700);
  release?.();
  await Promise.all([closed, ends]);
  expect(text).toMatch(path === '/slow' ? /connection: close[^]*slow$/ : /\r\n1\r\nb\r\n0\r\n\r\n$/);
});

// Guards: a request that was sent on a connection just before it was known that none is to follow.
test('the next request of a connection that was just used is answered', async () => {
  const { url, close } = await start();
  const socket = await connected(url);
  socket.write(asks('/quick'));
  await said(socket);
  const closed = close(GRACE_MS);
  await wait(100);
  socket.write(asks('/quick'));
  expect(await said(socket)).toMatch(/200 ok[^]*connection: close/);
  await closed;
});

// Guards against: a proxy that sends a request into the moment in which the listener closes an idle connection. Of the
// proxies in docs/operate/reverse-proxy.md one keeps them for two minutes.
test('an idle connection is kept for longer than proxies keep theirs', async () => {
  const { url } = await start();
  const socket = await connected(url);
  socket.write(asks('/quick'));
  const [, seconds] = /keep-alive: timeout=(\d+)/.exec(await said(socket)) ?? [];
  expect(Number(seconds)).toBeGreaterThan(120);
  socket.destroy();
});
