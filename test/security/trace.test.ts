/** TRACE, which sends a request back with its credentials: refused in one way at every address of every listener. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endpoints } from '../support/http/endpoints.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(() => service?.close());

const SECRET = 'secret-of-the-request';
const trace = (url: string) =>
  new Promise<{ status: number | undefined; allow: string | undefined; text: string }>((resolve, reject) => {
    const headers = { cookie: `service_session=${SECRET}`, authorization: `Bearer ${SECRET}` };
    const asked = request(url, { method: 'TRACE', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode, allow: response.headers.allow, text }));
    });
    asked.on('error', reject).end();
  });

const PAGES = [
  ...['/', '/healthz', '/readyz', '/metrics', '/nowhere', '/console', '/docs', '/openapi/public.json'],
  ...[
    '/login',
    '/login/link?token=x',
    '/logout',
    '/mcp',
    '/act/x.y',
    '/miniapps/x',
    '/api/v1/cp/v1/runs',
    '/codec/decode',
  ],
];

// Guards: no address answers TRACE with what was sent, or in a way of its own that tells of it.
test('TRACE is 405 at every address', async () => {
  const paths = [...PAGES, ...endpoints.map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x'))];
  const strange: unknown[] = [];
  for (const base of [service.baseUrl, service.controlPlaneUrl]) {
    for (const path of paths) {
      const { status, allow, text } = await trace(base + path);
      const isPlain = status === 405 && allow !== undefined && text === '{"detail":"method_not_allowed"}';
      if (!isPlain) strange.push({ url: base + path, status, text });
    }
  }
  expect(strange).toEqual([]);
  expect(paths.length).toBeGreaterThan(150);
});
