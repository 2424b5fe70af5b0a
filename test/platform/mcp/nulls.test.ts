/**
 * Servers that write null where the protocol has a field that may be absent, at every place of every answer.
 * https://github.com/gensecaihq/Wazuh-MCP-Server/issues/75, https://github.com/MervinPraison/PraisonAI/issues/3111
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fieldsOf } from '../../../src/platform/core/record.ts';
import { limited } from '../../../src/platform/egress/limits.ts';
import { openSession, type McpSession } from '../../../src/platform/mcp/session.ts';
import { openTransport } from '../../../src/platform/mcp/transport.ts';
import { portOf } from '../../support/processes/listening.ts';
import { ANSWER_LIMITS } from '../../support/service/answer-limits.ts';

const SCHEMA = {
  type: 'object',
  description: null,
  properties: {
    q: { type: 'string', title: null, enum: ['a', null], default: null },
    list: { type: 'array', items: null },
  },
  required: null,
  additionalProperties: null,
};
const CALLED = {
  content: [{ type: 'text', text: 'found', annotations: null }],
  structuredContent: { hits: null },
  isError: null,
};
const RESULTS: Record<string, object> = {
  nothing: { content: null, structuredContent: null, isError: null },
  search: CALLED,
  unreadable: { content: 'words' },
};

let server: Server;
let session: McpSession;
let pages: object[];
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { id, method, params } = fieldsOf(await json(request).catch(() => ({})));
    if (request.method !== 'POST' || id === undefined)
      return void response.writeHead(request.method === 'GET' ? 405 : 202).end();
    const { cursor, name } = fieldsOf(params);
    const answers: Record<string, () => object | undefined> = {
      initialize: () => ({
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: null }, logging: null, prompts: null },
        serverInfo: { name: 'nulls', version: '1', title: null },
        instructions: null,
      }),
      'tools/list': () => pages[Number(cursor ?? 0)],
      'tools/call': () => RESULTS[String(name)],
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[String(method)]?.() ?? {} }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const transport = openTransport(
    { url: `http://127.0.0.1:${portOf(server)}/mcp`, headers: {} },
    { fetch: limited(fetch, ANSWER_LIMITS), limits: ANSWER_LIMITS, onStderr: () => {} },
  );
  session = await openSession({
    transport,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    onDoubt: () => {},
  });
});
afterAll(async () => {
  await session?.close();
  server?.close();
});

// Guards against: a server that is out, or a tool that is left out, for a null.
test.each([null, '', undefined])('the last page ends with %j', async (end) => {
  const listed = (name: string, more: object = {}) => ({
    name,
    description: null,
    title: null,
    annotations: null,
    execution: null,
    outputSchema: null,
    _meta: null,
    inputSchema: SCHEMA,
    ...more,
  });
  pages = [
    { tools: [listed('search'), { name: 'broken' }], nextCursor: '1' },
    {
      tools: [
        listed('hinted', {
          annotations: { title: null, readOnlyHint: true, destructiveHint: null, idempotentHint: null },
        }),
      ],
      nextCursor: end,
    },
  ];
  const { tools } = await session.listTools();
  expect(tools.map(({ name, description, hints }) => ({ name, description, hints }))).toEqual([
    { name: 'search', description: '', hints: { readOnly: false, idempotent: false, destructive: true } },
    { name: 'hinted', description: '', hints: { readOnly: true, idempotent: false, destructive: false } },
  ]);
  expect(tools[0]?.inputSchema).toEqual({
    type: 'object',
    properties: { q: { type: 'string', enum: ['a', null], default: null }, list: { type: 'array' } },
  });
});

// Guards: what a tool answers keeps the nulls that are its own.
test('answers', async () => {
  const limits = { timeoutMs: 5_000, signal: new AbortController().signal };
  expect(await session.call('search', {}, limits)).toEqual({
    content: [{ type: 'text', text: 'found' }],
    structuredContent: { hits: null },
    isError: false,
  });
  expect(await session.call('nothing', {}, limits)).toEqual({ content: [], isError: false });
  // The model is told of this one, and the next is asked over the same connection.
  await expect(session.call('unreadable', {}, limits)).rejects.toMatchObject({ name: 'McpRefusalError' });
  expect(await session.call('nothing', {}, limits)).toMatchObject({ isError: false });
});
