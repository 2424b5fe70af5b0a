/**
 * What servers do wrong with one tool, one answer or their own life, and what is told of it. Shapes of public reports:
 * https://github.com/anthropics/claude-code/issues/88049 (a choice at the root), https://github.com/mastra-ai/mastra/issues/23731
 * (`required` among the properties), https://github.com/NousResearch/hermes-agent/pull/101804 (one tool costs 311 others),
 * https://github.com/anomalyco/opencode/pull/35729 and https://github.com/modelcontextprotocol/typescript-sdk/issues/153 (stderr).
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, expect, test } from '@jest/globals';
import { createLog } from '../../../src/platform/core/log.ts';
import { fieldsOf } from '../../../src/platform/core/record.ts';
import { limited } from '../../../src/platform/egress/limits.ts';
import { createMcpPool, type McpPool } from '../../../src/platform/mcp/pool.ts';
import type { McpServer } from '../../../src/platform/mcp/servers.ts';
import { portOf } from '../../support/processes/listening.ts';
import { ANSWER_LIMITS, ANSWER_SETTINGS } from '../../support/service/answer-limits.ts';

const open: { close(): unknown }[] = [];
afterAll(async () => {
  for (const each of open) await each.close();
});

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'odd', version: '1' },
};

function poolOf(server: McpServer): McpPool {
  const pool = createMcpPool({
    servers: new Map([['odd', server]]),
    guardedFetch: limited(fetch, ANSWER_LIMITS),
    settings: { ...ANSWER_SETTINGS, MCP_TIMEOUT: 10_000 },
    log: createLog({ level: 'silent', pretty: false }),
  });
  open.push(pool);
  return pool;
}
const connected = (server: McpServer) => poolOf(server).operators.get('odd')!;

/** A command that speaks the lines that `script` prints. */
const command = (script: string, env: Record<string, string> = {}, args: string[] = []): McpServer => ({
  command: process.execPath,
  args: ['-e', script, ...args],
  env,
});

/** A server over HTTP whose envelopes a test decides. */
async function remote(
  answerTo: (request: { id: unknown; method: unknown; name: unknown }) => unknown,
): Promise<McpServer> {
  const server: Server = createServer(async (request, response) => {
    const { id, method, params } = fieldsOf(await json(request).catch(() => ({})));
    if (request.method !== 'POST' || id === undefined)
      return void response.writeHead(request.method === 'GET' ? 405 : 202).end();
    const answer = answerTo({ id, method, name: fieldsOf(params).name });
    const isStream = method === 'tools/call';
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    response.end(isStream ? `event: message\ndata: ${text}\n\n` : text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => server.close() });
  return { url: `http://127.0.0.1:${portOf(server)}/mcp`, headers: {} };
}

const tool = (name: unknown, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const LOOP = {
  type: 'object',
  properties: { tree: { $ref: '#/$defs/node' } },
  $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
};
const TOOLS = [
  tool('good', { description: 7, annotations: 'none', execution: null }),
  tool('good', { description: 'again' }),
  tool('a name'),
  tool(undefined),
  tool('text', { inputSchema: { type: 'string' } }),
  tool('misplaced', { inputSchema: { type: 'object', properties: { required: ['coin'] } } }),
  tool('int', { inputSchema: { type: 'object', properties: { n: { type: 'int' } } } }),
  tool('elsewhere', { inputSchema: { type: 'object', properties: { n: { $ref: 'https://example.com/n' } } } }),
  tool('huge', { inputSchema: { type: 'object', description: 'x'.repeat(100_000) } }),
  tool('loop', { inputSchema: LOOP }),
  tool('tuple', {
    inputSchema: { type: 'object', properties: { at: { type: 'array', items: [{ type: 'number' }] } } },
  }),
  tool('choice', { inputSchema: { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }] } }),
  tool('later', { execution: { taskSupport: 'required' } }),
];

// Guards against: a server whose tools are all gone, or a tool that is gone in silence, for one tool that is wrong.
test('one tool that is wrong is left out, with the reason', async () => {
  const server = await remote(({ id, method }) => ({
    jsonrpc: '2.0',
    id,
    result: method === 'initialize' ? INITIALIZED : { tools: TOOLS },
  }));
  const { tools, leftOut, down } = await connected(server).state();
  expect(down).toBeUndefined();
  expect(tools.map(({ name, adapted }) => [name, adapted])).toEqual([
    ['good', undefined],
    ['loop', expect.stringContaining('refers to itself')],
    ['tuple', expect.stringContaining('items')],
    ['choice', expect.stringContaining('not of type object')],
  ]);
  expect(Object.fromEntries(leftOut.map(({ name, reason }) => [name, reason]))).toEqual({
    good: 'another tool before it has its name',
    'a name': expect.stringContaining('characters'),
    '': expect.stringContaining('name'),
    text: expect.stringContaining('not of type object'),
    misplaced: expect.stringContaining('not valid'),
    int: expect.stringContaining('not valid'),
    elsewhere: expect.stringContaining('outside of itself'),
    huge: expect.stringContaining('larger than'),
    later: expect.stringContaining('task'),
  });
});

const limits = () => ({ timeoutMs: 5_000, signal: new AbortController().signal });
const ENVELOPES: Record<string, (id: unknown) => unknown> = {
  nulls: (id) => ({
    jsonrpc: '2.0',
    id,
    error: null,
    result: { content: [{ type: 'text', text: 'ok' }], _meta: null },
  }),
  bare: (id) => ({ id, result: { content: [{ type: 'text', text: 'ok' }] } }),
  words: (id) => ({ jsonrpc: '2.0', id, result: null, error: 'out of paper' }),
  coded: (id) => ({ jsonrpc: '2.0', id, error: { code: 'E_PAPER', message: 'out of paper', data: null } }),
  text: (id) => ({ jsonrpc: '2.0', id, result: 'ok' }),
  neither: (id) => ({ jsonrpc: '2.0', id, result: null, error: null }),
  odd: (id) => ({ jsonrpc: '2.0', id, result: { content: 'ok' } }),
};
const EXPECTED: Record<string, object> = {
  nulls: { content: [{ type: 'text', text: 'ok' }] },
  bare: { content: [{ type: 'text', text: 'ok' }] },
  words: { message: expect.stringContaining('out of paper') },
  coded: { message: expect.stringContaining('out of paper') },
  text: { message: expect.stringContaining('cannot be understood') },
  neither: { message: expect.stringContaining('cannot be understood') },
  odd: { message: expect.stringContaining('cannot be understood') },
};
const answerTo = ({ id, method, name }: { id: unknown; method: unknown; name: unknown }) =>
  method === 'tools/call'
    ? ENVELOPES[String(name)]?.(id)
    : {
        jsonrpc: '2.0',
        id,
        error: null,
        result: { ...(method === 'initialize' ? INITIALIZED : { tools: [] }), _meta: null },
      };

const STDIO = `
  const envelopes = {${Object.entries(ENVELOPES)
    .map(([name, make]) => `${name}: ${make.toString()}`)
    .join(',')}};
  console.log('Listening, and saying so where messages belong');
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    const base = { jsonrpc: '2.0', id, error: null };
    const answer = method === 'tools/call' ? envelopes[params.name](id)
      : { ...base, result: { ...(method === 'initialize' ? ${JSON.stringify(INITIALIZED)} : { tools: [] }), _meta: null } };
    console.log(JSON.stringify(answer));
  });`;

// Guards against: a call that waits for its time limit, or a connection that is lost, for an envelope that the SDK refuses.
test.each(['remote', 'command'])('envelopes of a %s are read, or refused to the caller', async (kind) => {
  const connection = connected(kind === 'remote' ? await remote(answerTo) : command(STDIO));
  expect((await connection.state()).down).toBeUndefined();
  const got = await Promise.all(
    Object.keys(ENVELOPES).map(async (name) => {
      const outcome = await connection.call(name, {}, limits()).catch((error: Error) => error);
      return [name, outcome instanceof Error ? { is: outcome.name, message: outcome.message } : outcome];
    }),
  );
  for (const [name, outcome] of got) {
    expect({ name, outcome }).toMatchObject({ name, outcome: EXPECTED[String(name)] });
    if ('is' in fieldsOf(outcome)) expect(outcome).toMatchObject({ is: 'McpRefusalError' });
  }
  expect((await connection.state()).down).toBeUndefined();
});

// Guards against: "connection closed" for a command that said why it ended, and a secret of its environment in what it said.
test('a command that dies is told with its last words, without secrets', async () => {
  const script = `
    for (let n = 0; n < 500; n += 1) console.error('noise ' + n);
    console.error('cannot log in with ' + process.env.API_KEY + ' ' + process.argv[1] + ' at https://me:pw@db.example');
    process.exitCode = 3;`;
  const connection = connected(command(script, { API_KEY: 'canary-of-the-env', MODE: 'log' }, ['canary-of-args']));
  const { down = '', reason, since } = await connection.state();
  expect(down).toContain('cannot log in with *** *** at https://***db.example');
  expect(reason?.length).toBeLessThan(1_200);
  expect(reason).not.toContain('noise 400');
  expect(since.getTime()).toBeLessThanOrEqual(Date.now());
  await expect(connection.call('any', {}, limits())).rejects.toThrow('cannot log in');
});

// Guards: the same of one that dies of a call, whose caller is told at once.
test('a command that dies of a call tells its caller', async () => {
  const script = `${STDIO.replace('const { id, method, params = {} } = JSON.parse(line);', "const { id, method, params = {} } = JSON.parse(line); if (params.name === 'die') { console.error('Segmentation fault'); process.exit(139); }")}`;
  const connection = connected(command(script));
  await connection.state();
  await expect(connection.call('die', {}, limits())).rejects.toThrow('Segmentation fault');
});
