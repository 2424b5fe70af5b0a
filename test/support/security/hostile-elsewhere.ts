/** What takes input beside the declared endpoints, as if it were declared; no document says how it answers. */
import { z } from 'zod';
import { BINARY, endpoint, type Endpoint } from '../../../src/platform/http/endpoint.ts';
import { hostileRequests, type HostileOptions, type HostileRequest } from './hostile-requests.ts';
import { textRequests, type TextOptions } from './hostile-text-requests.ts';
import type { RequestParts } from '../http/send.ts';

const common = { surface: 'public', credential: 'api-key', summary: 'Beside', status: 200, reply: BINARY } as const;
/** As long as most of them take. */
const text = z.string().max(500);
/** As long as fits into a body there with an escape for each character. */
const longText = z.string().max(5_000);

const ADDRESSES: readonly [Pick<Endpoint, 'id' | 'method' | 'path' | 'query' | 'body'>, RequestParts][] = [
  [{ id: 'login.page', method: 'get', path: '/login', query: z.object({ next: text }) }, { query: { next: '/docs' } }],
  [
    { id: 'login.code', method: 'post', path: '/login/code', body: z.object({ email: longText, next: text }) },
    { body: { email: 'nobody@example.com', next: '/docs' } },
  ],
  [
    {
      id: 'login.verify',
      method: 'post',
      path: '/login/verify',
      body: z.object({ challenge_id: text, code: text, workspace: text, next: text }),
    },
    { body: { challenge_id: 'x'.repeat(16), code: '000000' } },
  ],
  [
    { id: 'login.linkPage', method: 'get', path: '/login/link', query: z.object({ token: text }) },
    { query: { token: `${'x'.repeat(16)}.${'y'.repeat(43)}` } },
  ],
  [
    { id: 'login.link', method: 'post', path: '/login/link', body: z.object({ token: text, workspace: text }) },
    { body: { token: `${'x'.repeat(16)}.${'y'.repeat(43)}` } },
  ],
  [
    { id: 'login.workspace', method: 'post', path: '/login/workspace', body: z.object({ workspace: text }) },
    { body: { workspace: 'acc_nobodys' } },
  ],
  [
    { id: 'login.callback', method: 'get', path: '/login/callback', query: z.object({ code: text, state: text }) },
    { query: { code: 'x', state: 'x' } },
  ],
  [
    { id: 'logout.post', method: 'post', path: '/logout', body: z.object({ all: z.boolean() }) },
    { body: { all: true } },
  ],
  [
    { id: 'outputs.question', method: 'get', path: '/outputs/confirm', query: z.object({ token: text }) },
    { query: { token: `${'x'.repeat(36)}.1.${'y'.repeat(43)}` } },
  ],
  [
    { id: 'outputs.answer', method: 'post', path: '/outputs/confirm', body: z.object({ token: text, answer: text }) },
    { body: { token: `${'x'.repeat(36)}.1.${'y'.repeat(43)}`, answer: 'confirmed' } },
  ],
  [{ id: 'miniapps.page', method: 'get', path: '/miniapps/{token}' }, { params: { token: 'x'.repeat(43) } }],
  [
    { id: 'miniapps.submit', method: 'post', path: '/miniapps/{token}', body: z.object({ answer: z.unknown() }) },
    { params: { token: 'x'.repeat(43) }, body: { answer: 'yes' } },
  ],
  [
    { id: 'inbox.link', method: 'get', path: '/act/{token}' },
    { params: { token: `${'x'.repeat(32)}.${'y'.repeat(43)}` } },
  ],
  [
    { id: 'inbox.linkAnswer', method: 'post', path: '/act/{token}', body: z.object({ answer: text, comment: text }) },
    { params: { token: `${'x'.repeat(32)}.${'y'.repeat(43)}` }, body: { answer: 'approve', comment: 'x' } },
  ],
  [
    {
      id: 'mcp.call',
      method: 'post',
      path: '/mcp',
      body: z.object({
        jsonrpc: z.string(),
        id: z.int(),
        method: z.string(),
        params: z.object({
          name: z.string(),
          arguments: z.object({ prompt: z.string(), agent: z.string(), run_id: z.string() }),
        }),
      }),
    },
    { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_run', arguments: { run_id: 'x' } } } },
  ],
  [{ id: 'docs.asset', method: 'get', path: '/docs/assets/{name}' }, { params: { name: 'swagger-ui.css' } }],
];

const requestsOf = (makeFor: (endpoint: Endpoint, parts: RequestParts) => HostileRequest[]): HostileRequest[] =>
  ADDRESSES.flatMap(([address, parts]) =>
    makeFor(endpoint({ ...common, ...address }) as unknown as Endpoint, parts).map((request) => ({
      ...request,
      // The MCP server wants both.
      headers: { accept: 'application/json, text/event-stream', ...request.headers },
    })),
  );

export const hostileElsewhere = (options: HostileOptions): HostileRequest[] =>
  requestsOf((each, parts) => hostileRequests(each, parts, options));

/** Texts that are slow to read. */
export const textsElsewhere = (options: TextOptions): HostileRequest[] =>
  requestsOf((each, parts) => textRequests(each, parts, options));
