/** The one action that reaches out, against a real server and through the guarded way out. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { createEgress, type Egress } from '../../../src/platform/egress/egress.ts';
import { ActionError } from '../../../src/resources/actions/builtin/action.ts';
import { findAction } from '../../../src/resources/actions/builtin/index.ts';
import { INSIDE } from '../../support/security/inside-addresses.ts';
import { tried } from '../../support/runner/sizes.ts';
import { runAction } from './context.ts';
import { ANSWER_LIMITS } from '../../support/service/answer-limits.ts';
import { portOf } from '../../support/processes/listening.ts';

let server: Server;
let inside: Server;
let insidePort: number;
let touched = 0;
let egress: Egress;
let origin: string;
let received: { path: string; type: string; body: unknown }[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    received.push({ path: present(request.url), type: present(request.headers['content-type']), body });
    if (request.url === '/moved') response.writeHead(307, { location: '/hook' }).end();
    else response.writeHead(request.url === '/hook' ? 201 : 500).end('thanks\0');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  origin = `http://127.0.0.1:${port}`;
  inside = createServer((_, response) => response.end()).on('connection', () => (touched += 1));
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  insidePort = portOf(inside);
  egress = createEgress({ allowlist: [`127.0.0.1:${port}`], allowHttp: true, limits: ANSWER_LIMITS });
});
afterAll(async () => {
  await egress.close();
  for (const each of [server, inside]) await new Promise((resolve) => each.close(resolve));
});
beforeEach(() => {
  received = [];
});

const post = (publish_url: unknown, more: Record<string, unknown> = {}) =>
  runAction('http_post', {
    project: { params: { publish_url } },
    inputs: { post: { content: 'near' } },
    artifacts: { draft: 'text', post: 'far' },
    fetch: egress.fetch,
    ...more,
  });

// Guards: the receiver gets all parts once, those of the phase itself before earlier ones of the same name.
test('sends the parts', async () => {
  expect(present(findAction('http_post')).effect).toBe('irreversible');
  expect(await post(`${origin}/hook`)).toEqual({ status: 201, url: `${origin}/hook`, reply: 'thanks' });
  const parts = { draft: 'text', post: { content: 'near' } };
  const body = { project_id: 'bees-0a1b2c', title: 'Bees on roofs', parts };
  expect(received).toEqual([{ path: '/hook', type: 'application/json', body }]);
});

// Guards: a refusal of the receiver fails the step, and a redirect never gets the content.
test.each(['/broken', '/moved'])('fails where %s does not take it', async (path) => {
  await expect(post(`${origin}${path}`)).rejects.toThrow(/answered with status (500|307)/);
  expect(received.map((each) => each.path)).toEqual([path]);
});

// Guards: a missing, bad or private address is refused with a reason, and nothing is sent.
test.each([undefined, 7, 'soon', 'http://169.254.169.254/latest', 'file:///etc/passwd'])('refuses %p', async (url) => {
  await expect(post(url)).rejects.toThrow(ActionError);
  await expect(post(url)).rejects.toThrow(/publish_url|not allowed/);
  expect(received).toEqual([]);
});

test.each(INSIDE)('does not publish to %s', async (host) => {
  await expect(post(`http://${host}:${insidePort}/`)).rejects.toThrow(/not allowed/);
  expect(touched).toBe(0);
  tried('addresses inside refused');
});

// Guards: a cancelled step sends nothing.
test('stops when it is cancelled', async () => {
  await expect(post(`${origin}/hook`, { signal: AbortSignal.abort(new Error('cancelled')) })).rejects.toThrow(
    'cancelled',
  );
  expect(received).toEqual([]);
});
