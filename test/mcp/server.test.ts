/** The service as an MCP server, spoken to by the official client over HTTP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schemaProblem } from '../../src/platform/core/json-schema.ts';
import { first, present } from '../../src/platform/core/present.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec } from '../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let folder: string;
let service: TestService;
let acme: Tenant;
let globex: Tenant;
const clients: Client[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcp-server-'));
  service = await startTestService({ env: { DATA_DIR: folder } });
  [acme, globex] = [await service.tenant('acc_acme'), await service.tenant('acc_globex', 'free')];
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await service.close();
  await rm(folder, { recursive: true });
});

const endpoint = () => `${service.baseUrl}/mcp`;

async function connect(apiKey: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${apiKey}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(endpoint()), { requestInit: { headers } }) as Transport,
  );
  clients.push(client);
  return client;
}

// What a test expects of an answer is what its assertions say.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Fields = any;

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Fields> {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: args });
  const { text } = first(content as { text: string }[]);
  if (!isError) expect(JSON.parse(text)).toEqual(structuredContent);
  return isError ? { isError, text, ...(structuredContent as object) } : structuredContent;
}

const post = (body: string | object, headers: Record<string, string> = {}) =>
  fetch(endpoint(), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${acme.apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });

// Guards: a client sees the tools, with schemas that it can use as they stand.
test('lists its tools', async () => {
  const client = await connect(acme.apiKey);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['list_agents', 'list_workflows', 'dispatch_run', 'get_run', 'cancel_run'],
    ...['start_project', 'get_project', 'list_projects', 'list_artifacts', 'get_artifact'],
    ...['list_waits', 'get_wait', 'answer_wait'],
  ]);
  for (const { inputSchema } of tools) {
    expect(schemaProblem(inputSchema, { objectOnly: true })).toBeUndefined();
    expect(JSON.stringify(inputSchema)).not.toContain('$ref');
  }
  const { inputSchema, annotations } = present(tools.find(({ name }) => name === 'dispatch_run'));
  expect(Object.keys(present(inputSchema.properties))).toEqual([
    'agent',
    'prompt',
    'thread_id',
    'override',
    'output_schema',
  ]);
  expect(annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  expect(tools.filter((tool) => tool.annotations?.destructiveHint).map(({ name }) => name)).toEqual(['cancel_run']);
});

// Guards: a task is given to an agent and its result read, all over MCP; the public API sees the same run.
test('dispatches a run and reads how it ended', async () => {
  const client = await connect(acme.apiKey);
  const { data } = await call(client, 'list_agents');
  expect(data.map(({ slug }: Fields) => slug)).toContain('writer');
  const { run_id } = await call(client, 'dispatch_run', { agent: 'writer', prompt: 'Write one line on tea.' });
  const ended = await eventually(async () => {
    const run = await call(client, 'get_run', { run_id });
    expect(run).toMatchObject({ status: 'succeeded', error: null });
    return run;
  });
  expect(ended.output).toContain('tea');
  expect((await acme.api('GET', `/v1/runs/${run_id}`)).body).toEqual(ended);
});

// Guards: a run that is under way is stopped by its workspace, once.
test('cancels a run', async () => {
  const [client, other] = [await connect(acme.apiKey), await connect(globex.apiKey)];
  const { run_id } = await call(client, 'dispatch_run', { agent: 'writer', prompt: '[[sleep:60000]] Write.' });
  expect(await call(other, 'cancel_run', { run_id })).toMatchObject({ code: 'not_found' });
  expect(await call(client, 'cancel_run', { run_id })).toEqual({ run_id, status: 'cancelled' });
  expect(await call(client, 'cancel_run', { run_id })).toMatchObject({ code: 'run_not_in_flight' });
  expect(await call(client, 'get_run', { run_id })).toMatchObject({ status: 'cancelled' });
});

// Guards: a project is started from a workflow that the list names, and followed to its end.
test('starts a project and follows it', async () => {
  await makeTemplate(acme, 'short', [phaseSpec('write', [agentStep('draft')])]);
  const client = await connect(acme.apiKey);
  const { data } = await call(client, 'list_workflows');
  expect(data.map(({ slug }: Fields) => slug)).toEqual(expect.arrayContaining(['short', 'blog-post']));
  const { project_id } = await call(client, 'start_project', { workflow_slug: 'short', brief: 'On tea.' });
  await eventually(async () => {
    expect(await call(client, 'get_project', { project_id })).toMatchObject({
      status: 'completed',
      phases: [{ phase_slug: 'write', status: 'succeeded' }],
    });
  });
  const { data: made } = await call(client, 'list_artifacts', { project_id });
  const { body } = await acme.cp('GET', `/v1/projects/${project_id}/artifacts`);
  const [{ content, ...artifact }] = body.data;
  expect(made).toEqual([artifact]);
  expect(await call(client, 'get_artifact', { project_id, artifact_id: artifact.id })).toEqual({
    ...artifact,
    content,
  });
  const { data: projects, meta } = await call(client, 'list_projects', { limit: 1, status: 'completed' });
  expect(projects.map(({ id }: Fields) => id)).toEqual([project_id]);
  expect(meta).toMatchObject({ limit: 1, total: 1 });
});

// Guards: a key answers where a gate names keys, as itself and bound to what it saw, and nowhere else.
test('answers what waits for keys', async () => {
  const client = await connect(acme.apiKey);
  const atGate = async (slug: string, config: object) => {
    await makeTemplate(acme, slug, [
      phaseSpec('write', [agentStep('draft'), gateStep('gate', 'human', { ...config })]),
    ]);
    const { project_id } = await call(client, 'start_project', { workflow_slug: slug, brief: 'On tea.' });
    return eventually(async () => {
      const { data } = await call(client, 'list_waits', { project_id });
      return present(data[0] as Fields | undefined);
    });
  };
  const forPeople = await atGate('for-people', {});
  expect(forPeople).toMatchObject({ kind: 'gate', may_answer: false });
  const said = { wait_id: forPeople.id, answer: 'approve', revision: forPeople.revision };
  expect(await call(client, 'answer_wait', said)).toMatchObject({ isError: true, code: 'not_an_approver' });
  const forKeys = await atGate('for-keys', { approvers: { api_keys: true } });
  expect(await call(client, 'get_wait', { wait_id: forKeys.id })).toMatchObject({
    may_answer: true,
    choices: [{}, {}],
  });
  const stale = { wait_id: forKeys.id, answer: 'approve', revision: forKeys.revision + 1 };
  expect(await call(client, 'answer_wait', stale)).toMatchObject({ isError: true, code: 'changed_since' });
  expect(await call(client, 'answer_wait', { ...stale, revision: forKeys.revision })).toMatchObject({
    status: 'settled',
    settled_by: expect.stringMatching(/^api-key:/),
    settled_via: 'api_key',
  });
  const other = await connect(globex.apiKey);
  expect(await call(other, 'get_wait', { wait_id: forKeys.id })).toMatchObject({ code: 'not_found' });
});

// Guards: what is wrong with a call is told as the answer of the tool, in the words of the API.
test('tells mistakes as answers', async () => {
  const client = await connect(acme.apiKey);
  const refused = (code: string, text: RegExp) => ({ isError: true, code, text: expect.stringMatching(text) });
  expect(await call(client, 'dispatch_run', {})).toEqual(expect.objectContaining(refused('validation', /^prompt: /)));
  expect(await call(client, 'dispatch_run', { agent: 'nobody', prompt: 'x' })).toMatchObject(
    refused('not_found', /^unknown agent: nobody$/),
  );
  expect(await call(client, 'dispatch_run', { prompt: 'a\0b' })).toMatchObject(refused('validation', /NUL/));
  expect(await call(client, 'start_project', { workflow_slug: 'none', brief: 'x' })).toMatchObject(
    refused('bad_request', /unknown or archived workflow/),
  );
  expect(await call(client, 'list_projects', { limit: 'many' })).toMatchObject({ isError: true });
  expect(await call(client, 'get_run', { run_id: ['a'] })).toMatchObject(refused('validation', /^run_id: /));
  await expect(client.callTool({ name: 'delete_everything', arguments: {} })).rejects.toThrow(/unknown tool/);
});

// Guards: the tenant is the key's: what is another's answers exactly as what never was.
test('keeps workspaces apart', async () => {
  const [mine, other] = [await connect(acme.apiKey), await connect(globex.apiKey)];
  const { run_id } = await call(mine, 'dispatch_run', { agent: 'writer', prompt: 'Mine.', customer_id: 'globex' });
  await makeTemplate(acme, 'private', [phaseSpec('write', [agentStep('draft')])]);
  const { project_id } = await call(mine, 'start_project', { workflow_slug: 'private', brief: 'Mine.' });
  const unknown = { isError: true, text: 'not_found', code: 'not_found', detail: 'not_found' };
  expect(await call(other, 'get_run', { run_id })).toEqual(unknown);
  expect(await call(other, 'get_run', { run_id: '01jz0000000000000000000000' })).toEqual(unknown);
  expect(await call(other, 'get_project', { project_id })).toEqual(unknown);
  expect(await call(other, 'list_artifacts', { project_id })).toEqual(unknown);
  expect((await call(other, 'list_projects')).data).toEqual([]);
  expect(await call(other, 'list_projects', { owner_id: 'acme' })).toMatchObject({ data: [] });
  const { data } = await call(other, 'list_workflows');
  expect(data.map(({ slug }: Fields) => slug)).not.toContain('private');
  expect((await call(mine, 'get_run', { run_id })).run_id).toBe(run_id);
});

// Guards: the caps of the plan hold here too, with the numbers in the answer.
test('keeps the caps of the plan', async () => {
  const client = await connect(globex.apiKey);
  const answers = await Promise.all(
    Array.from({ length: 104 }, () => call(client, 'dispatch_run', { agent: 'writer', prompt: 'x' })),
  );
  expect(answers.filter(({ isError }) => !isError)).toHaveLength(100);
  expect(answers.find(({ isError }) => isError)).toMatchObject({
    code: 'plan_limit_exceeded',
    detail: { resource: 'runs_per_day', limit: 100, tier: 'free' },
  });
});

// Guards: no key, a wrong one and a revoked one get what they get from the public API, whatever is asked.
test('asks for an API key', async () => {
  const refused = async (headers: Record<string, string>, text: string) => {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? { body: JSON.stringify(request('tools/list')) } : {};
      const response = await fetch(endpoint(), { method, headers, ...body });
      expect([response.status, await response.text()]).toEqual([401, text]);
      expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    }
  };
  await refused({}, 'invalid api key');
  await refused({ authorization: 'Bearer svc_pk_wrong' }, 'invalid api key');
  await refused({ cookie: `service_session=${acme.session}` }, 'invalid api key');

  const { body: made } = await acme.cp('POST', '/v1/api-keys', { name: 'to be revoked' });
  const client = await connect(made.key);
  await acme.cp('DELETE', `/v1/api-keys/${made.id}`);
  await expect(client.listTools()).rejects.toThrow(/api key revoked/);
  await refused({ authorization: `Bearer ${made.key}` }, 'api key revoked');
});

// Guards: a page of another site, also one whose name was made to mean this machine, is refused.
test('refuses foreign origins', async () => {
  for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', 'http://[::1].evil.example']) {
    const response = await post(request('tools/list'), { origin });
    expect([response.status, await response.json()]).toEqual([403, { detail: 'foreign_origin' }]);
  }
  for (const origin of [service.baseUrl, 'http://127.0.0.1:6274']) {
    expect((await post(request('tools/list'), { origin })).status).toBe(200);
  }
});

// Guards: no request, however broken, is answered 500; too large a body is refused before it is read to the end.
test('answers whatever is sent', async () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const bodies: [string, number][] = [
    ['', 400],
    ['{', 400],
    ['null', 400],
    ['[]', 202],
    ['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', 400],
    [deep, 400],
    [JSON.stringify(request('tools/list', { cursor: 'a\0' })), 200],
    [JSON.stringify(request('tools/call', { name: 7 })), 200],
    [
      JSON.stringify(request('tools/call', { name: 'get_run', arguments: { ['__proto__']: 1, run_id: '\ud800' } })),
      200,
    ],
    [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_run","arguments":${deep}}}`, 200],
    [JSON.stringify(request('nothing/of/the/kind')), 200],
    [JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), 202],
    [JSON.stringify(request('tools/list', { padding: 'x'.repeat(1_100_000) })), 413],
  ];
  for (const [body, status] of bodies) {
    const response = await post(body);
    await response.text();
    expect([body.slice(0, 120), response.status]).toEqual([body.slice(0, 120), status]);
  }
  expect((await post(request('tools/list'), { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post(request('tools/list'), { accept: 'text/html' })).status).toBe(406);
  expect((await post(request('tools/list'), { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
});

// Guards: there is one address with one method, and the public API is what it was.
test('is at one address', async () => {
  const headers = { authorization: `Bearer ${acme.apiKey}` };
  for (const method of ['GET', 'DELETE', 'PUT', 'HEAD', 'OPTIONS']) {
    const response = await fetch(endpoint(), { method, headers });
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
  }
  for (const path of ['/mcp/more', '/v1/mcp']) {
    const response = await fetch(service.baseUrl + path, { method: 'POST', headers });
    expect([path, response.status]).toEqual([path, 404]);
  }
});
