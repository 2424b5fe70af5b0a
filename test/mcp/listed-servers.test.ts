/** What a workspace sees of MCP servers: in the API, with `aos`, and in its runs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { startScriptedServer, tool, type ScriptedServer } from '../platform/mcp/scripted-server.ts';
import { eventsOf } from '../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const LOOP = {
  type: 'object',
  properties: { tree: { $ref: '#/$defs/node' } },
  $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
};

let server: ScriptedServer;
let service: TestService;
let tenant: Tenant;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-mcp-'));
  server = await startScriptedServer([
    tool('search'),
    tool('loop', { inputSchema: LOOP }),
    tool('bad', { inputSchema: { type: 'object', properties: { n: { type: 'int' } } } }),
  ]);
  const dying = {
    command: process.execPath,
    args: ['-e', 'console.error("no licence " + process.env.LICENCE); process.exitCode = 1'],
    env: { LICENCE: 'canary-licence' },
  };
  service = await startTestService({
    env: { MCP_SERVERS: JSON.stringify({ shop: { url: server.url }, dying }) },
  });
  tenant = await service.tenant('acc_acme');
});
afterAll(async () => {
  await service?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const aos = (...args: string[]) =>
  runCli(['mcp', ...args], { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session });

// Guards: a workspace sees without the operator's log which servers work, since when, and which tools are left out and why.
test('lists servers with their state and their tools', async () => {
  const { status, body } = await tenant.cp('GET', '/v1/mcp-servers');
  expect(status).toBe(200);
  const since = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(body).toEqual({
    data: [
      {
        name: 'shop',
        owner: 'operator',
        state: 'connected',
        since,
        reason: null,
        tools: [
          { slug: 'mcp.shop.search', description: 'Does search.', adapted: null },
          { slug: 'mcp.shop.loop', description: 'Does loop.', adapted: expect.stringContaining('refers to itself') },
        ],
        left_out: [{ name: 'bad', reason: expect.stringContaining('not valid') }],
      },
      {
        name: 'dying',
        owner: 'operator',
        state: 'failed',
        since,
        reason: expect.stringContaining('it wrote: no licence ***'),
        tools: [],
        left_out: [],
      },
    ],
    meta: { total: 2 },
  });
  expect(JSON.stringify(body)).not.toContain('canary');

  expect((await aos()).stdout).toMatch(
    /^NAME +OWNER +STATE +SINCE +TOOLS +LEFT OUT +REASON\nshop +operator +connected +\S.* 2 +1 *\ndying +operator +failed .*no licence \*\*\*/,
  );
  expect(jsonOf(await aos('show', 'shop', '--json'))).toEqual(body.data[0]);
  const shown = (await aos('show', 'shop')).stdout;
  expect(shown).toContain('mcp.shop.loop (told in another form: the schema refers to itself)');
  expect(shown).toContain('left out: bad: the schema is not valid');
  expect(await aos('show', 'nothing')).toMatchObject({ code: 1, stderr: expect.stringContaining('no MCP server') });
});

// Guards against: a tool that no agent can use, shown as one that works.
test('a tool that is left out is shown with the reason', async () => {
  const shown = async (slug: string) => (await tenant.cp('GET', `/v1/tools/${slug}`)).body;
  expect(await shown('mcp.shop.bad')).toMatchObject({
    unavailable: expect.stringMatching(/^the tool cannot be used: the schema is not valid/),
  });
  expect(await shown('mcp.shop.search')).toMatchObject({ unavailable: null, adapted: null });
  expect(await shown('mcp.shop.loop')).toMatchObject({
    unavailable: null,
    adapted: expect.stringContaining('refers to itself'),
  });
  expect((await tenant.cp('GET', '/v1/tools/mcp.shop.never')).status).toBe(404);
});

// Guards: a run says why its model was not offered a tool, or was told of it in another form.
test('runs tell why tools are withheld', async () => {
  await tenant.cp('POST', '/v1/agents', {
    slug: 'shopper',
    model: 'offline',
    prompt: 'You shop.',
    allowed_tool_slugs: ['mcp.shop.search', 'mcp.shop.loop', 'mcp.shop.bad', 'mcp.shop.never', 'mcp.dying.any'],
  });
  const run = await tenant.run({ agent: 'shopper', prompt: '[[tool:mcp.shop.bad {}]]' });
  const context = (await eventsOf(tenant, run.run_id)).find(({ event_type: type }) => type === 'context_loaded');
  expect(context?.payload).toMatchObject({
    tools: ['mcp.shop.search', 'mcp.shop.loop'],
    tools_withheld: ['mcp.shop.bad', 'mcp.shop.never', 'mcp.dying.any'],
    withheld_because: {
      'mcp.shop.bad': expect.stringContaining('not valid'),
      'mcp.dying.any': expect.stringContaining('no licence ***'),
    },
    adapted_because: { 'mcp.shop.loop': expect.stringContaining('refers to itself') },
  });
});
