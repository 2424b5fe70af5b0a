/** What a listener of the product says to what is no HTTP, over real connections. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { first, present } from '../../../src/platform/core/present.ts';
import { createSurface } from '../../../src/platform/http/app.ts';
import { listen, type HttpListener } from '../../../src/platform/http/server.ts';
import { exchange } from '../../support/http/send-bytes.ts';

let listener: HttpListener;
beforeAll(async () => {
  const surface = createSurface({ routes: [], authenticate: () => Promise.reject(new Error('nobody is asked for')) });
  const log = pino({ level: 'silent' });
  listener = await listen({
    port: 0,
    setting: 'PORT',
    host: '127.0.0.1',
    log,
    ready: async () => {},
    routers: [surface],
  });
});
afterAll(() => listener.close(0));

const answerTo = async (bytes: string) =>
  (await exchange(listener.url.replace('localhost', '127.0.0.1'), bytes)).split('\r\n\r\n');

// Guards: errors have the form `{detail}`, even where no request could be read.
test.each([
  ['no HTTP', 'nonsense\r\n\r\n', 400, 'malformed request'],
  ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, undefined],
  ['an address that is too long', `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 431, 'headers_too_large'],
])('%s', async (_name, bytes, status, detail) => {
  const [head, body] = await answerTo(bytes);
  expect(head).toContain(`HTTP/1.1 ${status} `);
  if (detail === undefined) return;
  expect(head).toContain('content-type: application/json; charset=utf-8');
  expect(JSON.parse(present(body))).toEqual({ detail });
});

// Guards: further data on a connection is not answered in the middle of an earlier answer.
test('a request and nonsense after it', async () => {
  const [head, body] = await answerTo('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\nnonsense\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 (200|400) /);
  expect(JSON.parse(first(present(body).split('HTTP/1.1')))).toEqual(
    present(head).includes(' 200 ') ? { status: 'ok' } : { detail: 'malformed request' },
  );
});

// Guards: a service that sends no validators answers every conditional request in full.
test('a condition that everything fulfils', async () => {
  const response = await fetch(`${listener.url}/healthz`, { headers: { 'if-none-match': '*' } });
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
});
