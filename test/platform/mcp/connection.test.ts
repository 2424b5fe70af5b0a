/** Connections to MCP servers: the reference server as a process and over HTTP, killed and started again. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { last } from '../../../src/platform/core/present.ts';
import { limited } from '../../../src/platform/egress/limits.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createMcpConnection, type McpConnection } from '../../../src/platform/mcp/connection.ts';
import { McpConnectionError, McpTimeoutError, McpUnavailableError } from '../../../src/platform/mcp/errors.ts';
import type { McpServer } from '../../../src/platform/mcp/servers.ts';
import { openSession } from '../../../src/platform/mcp/session.ts';
import { openTransport } from '../../../src/platform/mcp/transport.ts';
import { eventually } from '../../support/service/service.ts';
import { startTcpProxy } from '../../support/faults/tcp-proxy.ts';
import { everythingCommand, startEverything, type HttpServer } from './everything.ts';
import { startScriptedServer, tool } from './scripted-server.ts';
import { ANSWER_LIMITS } from '../../support/service/answer-limits.ts';

const open: { close(): Promise<unknown> }[] = [];
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
});

/** Process ids of the commands that were started, newest last. */
const pids: number[] = [];
const lines: Record<string, unknown>[] = [];
const log = createLog({
  level: 'debug',
  pretty: false,
  destination: { write: (line) => lines.push(JSON.parse(line)) },
});

function connect(name: string, server: McpServer): McpConnection {
  const connection = createMcpConnection({
    name,
    log,
    async open(options) {
      const transport = openTransport(server, {
        fetch: limited(fetch, ANSWER_LIMITS),
        limits: ANSWER_LIMITS,
        onStderr: () => {},
      });
      const session = await openSession({ transport, timeoutMs: 20_000, ...options });
      const { pid } = transport as { pid?: number };
      if (pid) pids.push(pid);
      return session;
    },
  });
  open.push(connection);
  return connection;
}

const limits = (timeoutMs = 10_000, signal = new AbortController().signal) => ({ timeoutMs, signal });
const toolNames = async (connection: McpConnection) => (await connection.state()).tools.map(({ name }) => name);
const text = ({ content }: { content: unknown[] }) => (content[0] as { text: string }).text;
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

let http: HttpServer;
beforeAll(async () => {
  http = await startEverything();
  open.push({ close: () => http.kill() });
});

// Guards: a command is started without the service's environment, its tools and hints are read, and it is gone after
// close.
test('speaks to a command', async () => {
  process.env['CANARY_OF_THE_SERVICE'] = 'canary';
  const connection = connect('stdio', everythingCommand({ GIVEN: 'yes' }));
  const { tools, down } = await connection.state();
  expect(down).toBeUndefined();
  expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
    description: 'Echoes back the input string',
    inputSchema: { type: 'object', required: ['message'] },
    hints: { readOnly: true, idempotent: true, destructive: false },
  });
  expect(text(await connection.call('echo', { message: 'hello' }, limits()))).toBe('Echo: hello');
  const env = JSON.parse(text(await connection.call('get-env', {}, limits())));
  expect(
    Object.keys(env)
      .filter((name) => !name.startsWith('__'))
      .sort(),
  ).toEqual(['GIVEN', 'PATH']);
  const pid = last(pids);
  expect(isAlive(pid)).toBe(true);
  await connection.close();
  expect(isAlive(pid)).toBe(false);
  expect((await connection.state()).down).toMatch(/"stdio" cannot be used/);
});

// Guards: a call that a dying server has taken fails at once with an unknown outcome, and the next start works.
test('starts a command that was killed again', async () => {
  const connection = connect('killed', everythingCommand());
  await connection.state();
  const pid = last(pids);
  const long = connection.call('trigger-long-running-operation', { duration: 30, steps: 1 }, limits(60_000));
  process.kill(pid, 'SIGKILL');
  await expect(long).rejects.toMatchObject({ name: 'McpConnectionError', isUnsent: false });
  await expect(connection.call('echo', { message: 'now' }, limits())).rejects.toThrow(McpUnavailableError);
  expect((await connection.state()).down).toBeDefined();
  await eventually(async () => {
    expect(text(await connection.call('echo', { message: 'again' }, limits()))).toBe('Echo: again');
  });
  expect(pids.at(-1)).not.toBe(pid);
});

// Guards: a command that cannot be started is reported as down at once, and the log has no secret of its settings.
test('says that a command cannot be started', async () => {
  const connection = connect('nothing', { command: '/nowhere/at-all', args: ['--key=sesame'], env: { KEY: 'sesame' } });
  expect((await connection.state()).down).toBe(
    'the MCP server "nothing" cannot be used at the moment: it cannot be reached (ENOENT)',
  );
  await expect(connection.call('x', {}, limits())).rejects.toThrow(McpUnavailableError);
  expect(lines.filter(({ msg }) => msg === 'an MCP server cannot be used')).not.toHaveLength(0);
  expect(JSON.stringify(lines)).not.toContain('sesame');
});

// Guards: the same holds over HTTP: a server that is killed during a call is reported as down, and comes back with a
// new session.
test('finds a server over HTTP again that was killed', async () => {
  const connection = connect('http', { url: http.url, headers: {} });
  expect(await toolNames(connection)).toContain('get-sum');
  expect(text(await connection.call('get-sum', { a: 2, b: 3 }, limits()))).toContain('5');

  const long = connection.call('trigger-long-running-operation', { duration: 50, steps: 1 }, limits(60_000));
  const [lost] = await Promise.all([long.catch((error: unknown) => error), http.kill()]);
  expect(lost).toBeInstanceOf(McpConnectionError);
  await eventually(async () => expect((await connection.state()).down).toBeDefined());
  await expect(connection.call('get-sum', { a: 2, b: 3 }, limits())).rejects.toThrow(McpUnavailableError);

  await http.start();
  await eventually(async () => {
    expect(text(await connection.call('get-sum', { a: 20, b: 3 }, limits()))).toContain('23');
  });
});

// Guards: a request for the tools of a server that accepts connections and never answers waits only for a moment.
test('does not wait for a server that hangs', async () => {
  const proxy = await startTcpProxy(http.address);
  open.push(proxy);
  await proxy.cut('hang');
  const connection = connect('hanging', { url: `http://${proxy.address}/mcp`, headers: {} });
  const from = performance.now();
  expect((await connection.state()).down).toMatch(/still starting/);
  const first = performance.now() - from;
  expect(first).toBeLessThan(30_000);
  // The patience is for the opening, not for each who asks.
  await connection.state();
  expect(performance.now() - from - first).toBeLessThan(4_500);
  await connection.close();
});

// Guards: an answer that takes too long, and a cancelled run, end the call here and tell the server, and the end of a
// session is told too.
test('ends a call that is late or not wanted any more', async () => {
  const never = (_: unknown, signal: AbortSignal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));
  const server = await startScriptedServer([tool('wait')], { wait: never });
  open.push(server);
  const connection = connect('slow', { url: server.url, headers: {} });
  await expect(connection.call('wait', {}, limits(200))).rejects.toThrow(McpTimeoutError);
  await eventually(() => expect(server.cancelled).toEqual(['wait']));

  const stop = new AbortController();
  const call = connection.call('wait', {}, limits(60_000, stop.signal));
  await eventually(() => expect(server.calls).toHaveLength(2));
  stop.abort(new Error('the run was cancelled'));
  await expect(call).rejects.toThrow('the run was cancelled');
  await eventually(() => expect(server.cancelled).toHaveLength(2));
  await connection.close();
  expect(server.endedSessions).toBe(1);
});

// Guards: a server that forgot the session gets a new one, and the call reaches it once.
test('opens a new session where the old one is not known', async () => {
  const server = await startScriptedServer([tool('count')]);
  open.push(server);
  const connection = connect('forgetful', { url: server.url, headers: { authorization: 'Bearer key' } });
  await connection.call('count', {}, limits());
  server.status = 404;
  await expect(connection.call('count', {}, limits())).rejects.toThrow(McpUnavailableError);
  server.status = undefined;
  await eventually(async () => expect(text(await connection.call('count', {}, limits()))).toBe('count'));
  expect(server.calls).toEqual(['count', 'count']);
  expect(new Set(server.headers.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer key']));
});

// Guards: new tools are known once the server announces them; tools that no model could be offered are left out and
// reported once.
test('follows what a server says it has', async () => {
  const remote = { type: 'object', properties: { a: { $ref: 'https://example.com/schema.json' } } };
  const bad = [
    tool('remote', { inputSchema: remote }),
    tool('no object', { inputSchema: { type: 'object' } }),
    tool('later', { execution: { taskSupport: 'required' } }),
    { name: 'nameless' },
    'nonsense',
  ];
  const server = await startScriptedServer([tool('one'), ...(bad as never[])]);
  open.push(server);
  const connection = connect('changing', { url: server.url, headers: {} });
  expect(await toolNames(connection)).toEqual(['one']);
  // Until it listens there is nobody to announce anything to.
  await eventually(() => expect(server.headers.filter(({ accept }) => accept === 'text/event-stream')).toHaveLength(1));
  await eventually(async () => {
    await server.setTools([tool('one'), tool('two'), ...(bad as never[])]);
    expect(await toolNames(connection)).toEqual(['one', 'two']);
  });
  const told = lines.filter(({ msg }) => msg === 'a tool of an MCP server is left out').map(({ tool }) => tool);
  expect(told.sort()).toEqual(['no object', 'remote']);
});

// Guards: an endless answer costs a bounded amount of memory, and the server's tools stay usable.
test('refuses an answer without end', async () => {
  const huge = { content: [{ type: 'text', text: 'x'.repeat(9_000_000) }] };
  const server = await startScriptedServer([tool('huge'), tool('small')], { huge: () => huge });
  open.push(server);
  const connection = connect('huge', { url: server.url, headers: {} });
  await expect(connection.call('huge', {}, limits(3_000))).rejects.toThrow();
  await eventually(async () => expect(text(await connection.call('small', {}, limits()))).toBe('small'));
});
