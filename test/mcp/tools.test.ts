/** MCP servers as tools of agents: the operator's for everybody, a workspace's own for it alone. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createLog } from '../../src/platform/core/log.ts';
import { first, last, present } from '../../src/platform/core/present.ts';
import { createMcpPool, type McpPool, type WorkspaceMcpServer } from '../../src/platform/mcp/pool.ts';
import { createMcpTools } from '../../src/resources/tools/mcp.ts';
import { effectOf, ToolError } from '../../src/resources/tools/model.ts';
import { createToolContext } from '../resources/tools/tool-context.ts';
import { everythingCommand, startEverything, type HttpServer } from '../platform/mcp/everything.ts';
import { startScriptedServer, tool, type ScriptedServer } from '../platform/mcp/scripted-server.ts';
import { wireName } from '../../src/platform/models/wire-name.ts';
import { answer, callTools, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { confirmed } from '../support/service/otp.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { ANSWER_SETTINGS } from '../support/service/answer-limits.ts';
import { portOf } from '../support/processes/listening.ts';

let everything: HttpServer;
let service: TestService;
let tenant: Tenant;
let model: OpenAiServer;
let workspaceServer: ScriptedServer;

beforeAll(async () => {
  [everything, model, workspaceServer] = await Promise.all([
    ...([startEverything(), startOpenAiServer(), startScriptedServer([tool('search')])] as const),
  ]);
  const servers = { everything: everythingCommand(), remote: { url: everything.url } };
  service = await startTestService({
    env: {
      MCP_SERVERS: JSON.stringify(servers),
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      EGRESS_ALLOWLIST: workspaceServer.address,
    },
  });
  tenant = await service.tenant('acc_acme');
  for (const [slug, tools] of Object.entries({
    local: ['mcp.everything.echo', 'mcp.everything.get-structured-content', 'calculator'],
    far: ['mcp.remote.get-sum', 'calculator'],
  })) {
    const { status } = await tenant.cp('POST', '/v1/agents', {
      slug,
      model: 'offline',
      prompt: 'You use tools.',
      allowed_tool_slugs: tools,
    });
    expect(status).toBe(201);
  }
});
afterAll(async () => {
  await Promise.all([service.close(), model.close(), everything.kill(), workspaceServer.close()]);
});
beforeEach(() => model.reset());

const callOf = (slug: string, args: object) => `[[tool:${slug} ${JSON.stringify(args)}]]`;
const resultsOf = async (runId: string) =>
  service.runtime.db.rows<{ tool: string; status: string; effect: string; result: Record<string, unknown> }>(sql`
    select tool, status, effect, result from run_tool_calls where run_id = ${runId} order by call_id`);

// Guards: an agent calls tools of a server that runs as a command, through the whole engine, and gets text and
// structured content; what the server's schema forbids never reaches it.
test('runs call tools of a command', async () => {
  const run = await tenant.run({
    agent: 'local',
    prompt: [
      callOf('mcp.everything.echo', { message: 'through the engine' }),
      callOf('mcp.everything.get-structured-content', { location: 'New York' }),
      callOf('mcp.everything.echo', { message: 7 }),
    ].join(' '),
  });
  expect(run.status).toBe('succeeded');
  expect(await resultsOf(run.run_id)).toEqual([
    { tool: 'mcp.everything.echo', status: 'succeeded', effect: 'read', result: { text: 'Echo: through the engine' } },
    {
      tool: 'mcp.everything.get-structured-content',
      status: 'succeeded',
      effect: 'read',
      result: { structured_content: { temperature: 33, conditions: 'Cloudy', humidity: 82 } },
    },
    {
      tool: 'mcp.everything.echo',
      status: 'failed',
      effect: 'read',
      result: { error: expect.stringContaining('bad arguments for mcp.everything.echo') },
    },
  ]);
});

// Guards: a run goes on while a server is down: its tools are not offered, a call says why, and they return with the
// server.
test('runs go on without a server that is down', async () => {
  const sum = () => tenant.run({ agent: 'far', prompt: callOf('mcp.remote.get-sum', { a: 2, b: 40 }) });
  const tools = () => service.services.tools.find('acme', ['mcp.remote.get-sum']);
  const up = await sum();
  expect((await resultsOf(up.run_id))[0]).toMatchObject({
    status: 'succeeded',
    result: { text: expect.stringMatching(/42/) },
  });

  await everything.kill();
  await eventually(async () => expect((await tools()).filter((one) => one.unavailable)).toHaveLength(1));
  expect(await sum()).toMatchObject({ status: 'succeeded', error: null });
  // A model that was shown the tool in an earlier turn may call it again.
  const names: string[][] = [];
  const wire = wireName('mcp.remote.get-sum');
  model.script((response, request) => {
    names.push((request.body.tools ?? []).map((one) => one.function.name));
    callTools({ id: 'c1', name: wire, arguments: { a: 2, b: 40 } })(response, request);
  }, answer('It is away.'));
  const told = await tenant.run({ agent: 'far', prompt: 'Sum.', override: { model_override: 'openai-compatible' } });
  expect(told).toMatchObject({ status: 'succeeded', output: 'It is away.' });
  expect(names).toEqual([['calculator']]);
  expect((await resultsOf(told.run_id))[0]).toMatchObject({
    tool: 'mcp.remote.get-sum',
    status: 'failed',
    result: { error: expect.stringMatching(/^the MCP server "remote" cannot be used at the moment/) },
  });

  await everything.start();
  await eventually(async () => {
    const again = await sum();
    expect((await resultsOf(again.run_id))[0]).toMatchObject({ status: 'succeeded' });
  });
});

// Guards: providers that allow no dots in names are shown such a tool under an allowed name, which is mapped back.
test('a model of a provider calls one by the name it was shown', async () => {
  await tenant.cp('POST', '/v1/agents', {
    slug: 'hosted',
    model: 'openai-compatible',
    prompt: 'You use tools.',
    allowed_tool_slugs: ['mcp.everything.echo'],
  });
  let shown = '';
  model.script((response, request) => {
    shown = request.body.tools![0]!.function.name;
    callTools({ id: 'c1', name: shown, arguments: { message: 'wire' } })(response, request);
  }, answer('done'));
  const run = await tenant.run({ agent: 'hosted', prompt: 'Echo something.' });
  expect(run).toMatchObject({ status: 'succeeded', output: 'done' });
  expect(shown).toMatch(/^[\w-]{1,64}$/);
  expect(await resultsOf(run.run_id)).toMatchObject([{ tool: 'mcp.everything.echo', result: { text: 'Echo: wire' } }]);
});

// Guards: people see the tools of each server, and the state of the server.
test('the list of tools shows them', async () => {
  const { body: list } = await tenant.cp('GET', '/v1/tools');
  const row = list.data.find(({ slug }: { slug: string }) => slug === 'mcp.everything.echo');
  expect(row).toMatchObject({ module: 'mcp.everything', category: 'mcp', param_names: ['message'], is_builtin: true });
  const { status, body } = await tenant.cp('GET', '/v1/tools/mcp.everything.echo');
  expect(status).toBe(200);
  expect(body).toMatchObject({ ...row, id: null, params_schema: { required: ['message'] } });
  expect(body.recent_invocations.length).toBeGreaterThan(0);
  expect((await tenant.cp('GET', '/v1/tools/mcp.everything.nothing')).status).toBe(404);
  expect((await tenant.cp('DELETE', '/v1/tools/mcp.everything.echo')).status).toBe(400);
});

// Guards: a workspace connects a server by its integration alone: the address is its secret, the token its credential,
// and neither appears in what the run recorded.
test('an integration brings its server', async () => {
  const url = `${workspaceServer.url}?key=canary-in-address`;
  const secret = await confirmed(tenant, 'PUT', '/v1/integrations/github/secrets/mcp.url', { value: url });
  const token = { value: 'canary-token' };
  const credential = await confirmed(tenant, 'PUT', '/v1/integrations/github/credentials/token', token);
  expect([secret.status, credential.status]).toEqual([200, 200]);
  await tenant.cp('POST', '/v1/agents', {
    slug: 'own',
    model: 'offline',
    prompt: 'You use tools.',
    allowed_tool_slugs: ['mcp.github.search'],
  });
  const run = await tenant.run({ agent: 'own', prompt: callOf('mcp.github.search', {}) });
  expect(await resultsOf(run.run_id)).toMatchObject([{ status: 'succeeded', result: { text: 'search' } }]);
  expect(last(workspaceServer.headers).authorization).toBe('Bearer canary-token');
  const { body: events } = await tenant.cp('GET', `/v1/runs/${run.run_id}/events`);
  expect(JSON.stringify(events)).not.toContain('canary');

  const other = await service.tenant('acc_globex');
  expect((await other.cp('GET', '/v1/tools/mcp.github.search')).status).toBe(404);

  // Given anew, also the same ones, they are for another session: it may be somebody else who gives them.
  const sessionOf = () => last(workspaceServer.headers)['mcp-session-id'];
  const before = sessionOf();
  await tenant.run({ agent: 'own', prompt: callOf('mcp.github.search', {}) });
  expect(sessionOf()).toBe(before);
  const { customerId } = tenant.caller;
  for (const table of ['secrets', 'credentials'])
    await service.runtime.db.rows(sql`
      delete from ${sql.identifier(`integration_${table}`)} where customer_id = ${customerId}`);
  expect((await confirmed(tenant, 'PUT', '/v1/integrations/github/secrets/mcp.url', { value: url })).status).toBe(200);
  const tokenAgain = await confirmed(tenant, 'PUT', '/v1/integrations/github/credentials/token', token);
  expect(tokenAgain.status).toBe(200);
  const again = await tenant.run({ agent: 'own', prompt: callOf('mcp.github.search', {}) });
  expect(await resultsOf(again.run_id)).toMatchObject([{ status: 'succeeded' }]);
  expect(sessionOf()).not.toBe(before);
  expect(workspaceServer.endedSessions).toBe(1);
});

/** Tools as one workspace sees them, without the rest of the service. */
const pools: McpPool[] = [];
const scripted: ScriptedServer[] = [];
afterAll(async () => {
  await Promise.all([...pools.map((pool) => pool.close()), ...scripted.map((server) => server.close())]);
});
function toolsOver(own: Record<string, WorkspaceMcpServer[]>, { allowlist = [] as string[], timeoutMs = 5_000 } = {}) {
  const { context, egress } = createToolContext({ allowlist });
  const logged: string[] = [];
  const log = createLog({ level: 'debug', pretty: false, destination: { write: (line) => logged.push(line) } });
  const settings = { ...ANSWER_SETTINGS, MCP_TIMEOUT: timeoutMs };
  const pool = createMcpPool({ servers: new Map(), guardedFetch: egress.fetch, settings, log });
  pools.push(pool);
  const serversOf = async (customerId: string) => own[customerId] ?? [];
  return { tools: createMcpTools({ pool, serversOf, timeoutMs }), context, logged };
}
const scriptedServer = async (...given: Parameters<typeof startScriptedServer>) => {
  const server = await startScriptedServer(...given);
  scripted.push(server);
  return server;
};

// Guards: a workspace's own server gets that workspace's credential, and no other workspace sees its tools.
test('a server of a workspace is its own', async () => {
  const server = await scriptedServer([tool('search')]);
  const own = { acme: [{ name: 'github', url: server.url, bearer: 'sesame-of-acme' }] };
  const { tools, context, logged } = toolsOver(own, { allowlist: [server.address] });
  const [search] = await tools.find('acme', ['mcp.github.search', 'mcp.github.unknown', 'mcp.gitlab.search', 'search']);
  expect(search).toMatchObject({ slug: 'mcp.github.search', module: 'mcp.github', effect: 'irreversible' });
  expect(await present(search).execute({}, context)).toEqual({ text: 'search' });
  expect(server.headers.every(({ authorization }) => authorization === 'Bearer sesame-of-acme')).toBe(true);
  expect((await tools.list('acme')).map(({ slug }) => slug)).toEqual(['mcp.github.search']);

  expect(await tools.find('globex', ['mcp.github.search'])).toEqual([]);
  expect(await tools.list('globex')).toEqual([]);
  expect(logged.join()).not.toMatch(new RegExp(`sesame|${server.address}`));

  first(own.acme).bearer = 'another';
  await tools.find('acme', ['mcp.github.search']);
  expect(last(server.headers).authorization).toBe('Bearer another');
});

// Guards: a workspace cannot name an internal address, directly or by redirect, and learns nothing of what is there.
test('a workspace reaches no server inside', async () => {
  const inside = await scriptedServer([tool('secrets')]);
  for (const url of [inside.url, 'http://169.254.169.254/mcp', 'http://localhost:1/mcp', 'file:///etc/passwd']) {
    const { tools, context } = toolsOver({ acme: [{ name: 'inside', url }] });
    const [found] = await tools.find('acme', ['mcp.inside.secrets']);
    expect(found).toMatchObject({ unavailable: expect.stringMatching(/its address is not allowed$/) });
    await expect(present(found).execute({}, context)).rejects.toThrow(ToolError);
    expect(await tools.list('acme')).toEqual([]);
  }

  const away = createServer((_request, response) => response.writeHead(307, { location: inside.url }).end());
  away.listen(0, '127.0.0.1');
  await once(away, 'listening');
  const address = `127.0.0.1:${portOf(away)}`;
  const { tools } = toolsOver({ acme: [{ name: 'away', url: `http://${address}/` }] }, { allowlist: [address] });
  expect(await tools.find('acme', ['mcp.away.secrets'])).toMatchObject([
    { unavailable: expect.stringMatching(/307$/) },
  ]);
  away.close();
  away.closeAllConnections();
  expect(inside.headers).toEqual([]);
});

// Guards: a server's hints decide whether a call is repeated; a tool without hints is treated as irreversible.
test('takes the effect of a tool from its hints', async () => {
  const server = await scriptedServer([
    tool('reads', { annotations: { readOnlyHint: true } }),
    tool('sets', { annotations: { idempotentHint: true, destructiveHint: false } }),
    tool('sends', { annotations: { title: 'Sends' } }),
  ]);
  const { tools } = toolsOver({ acme: [{ name: 'own', url: server.url }] }, { allowlist: [server.address] });
  const found = await tools.list('acme');
  expect(found.map((one) => [one.slug, effectOf(one, {}), one.sensitive])).toEqual([
    ['mcp.own.reads', 'read', false],
    ['mcp.own.sets', 'idempotent', false],
    ['mcp.own.sends', 'irreversible', true],
  ]);
});

// Guards: a server's answer becomes a value that can be stored, or an error that the model is told; an unknown outcome
// is reported as unknown.
test('tells results and errors apart', async () => {
  const block = (text: string) => ({ content: [{ type: 'text', text }] });
  const server = await scriptedServer(
    ['mixed', 'fails', 'refuses', 'dirty', 'malformed', 'deep', 'hangs', 'reads'].map((name) =>
      tool(name, name === 'reads' ? { annotations: { readOnlyHint: true } } : {}),
    ),
    {
      mixed: () => ({
        content: [
          { type: 'text', text: 'a picture:' },
          { type: 'image', mimeType: 'image/png', data: Buffer.alloc(30).toString('base64') },
          { type: 'resource', resource: { uri: 'file:///a', text: 'of a file' } },
          { type: 'resource_link', name: 'b', uri: 'file:///b' },
        ],
        structuredContent: { n: 1 },
      }),
      fails: () => ({ ...block('no such page'), isError: true }),
      refuses: () => Promise.reject(new Error('not today')),
      dirty: () => block('a\0b\ud800c'),
      malformed: () => ({ content: 'none' }),
      deep: () => ({ content: [], structuredContent: JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) }),
      hangs: () => new Promise(() => {}),
      reads: () => new Promise(() => {}),
    },
  );
  const { tools, context } = toolsOver(
    { acme: [{ name: 'own', url: server.url }] },
    { allowlist: [server.address], timeoutMs: 2_000 },
  );
  const call = async (name: string) => first(await tools.find('acme', [`mcp.own.${name}`])).execute({}, context);

  expect(await call('mixed')).toEqual({
    text: 'a picture:\n[image image/png, 30 bytes]\nof a file\n[resource b: file:///b]',
    structured_content: { n: 1 },
  });
  expect(await call('dirty')).toEqual({ text: 'ab\ufffdc' });
  await expect(call('fails')).rejects.toEqual(new ToolError('no such page'));
  await expect(call('refuses')).rejects.toThrow(/^the MCP server "own" refused: .*not today/);
  await expect(call('malformed')).rejects.toThrow(ToolError);
  await expect(call('deep')).rejects.toThrow(new ToolError('the answer is nested deeper than 64 levels'));
  await expect(call('reads')).rejects.toThrow('the MCP server "own" gave no answer within 2 seconds');
  const unknown = await call('hangs').catch((error: unknown) => error);
  expect(unknown).not.toBeInstanceOf(ToolError);
});
