/** What a command shows to people has no JSON in it; what it prints with --json is JSON. */
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { INTERNAL_WORKSPACE } from '../../src/platform/core/ids.ts';
import { fieldLines, fieldsInLine, previewInLine, typeOf } from '../../src/cli/fields.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { argumentsOf, leavesOf, type Leaf } from '../support/cli/commands.ts';
import { runHere } from '../support/cli/here.ts';
import { makeBelongings, type Belongings } from '../support/fixtures/belongings.ts';
import { portOf } from '../support/processes/listening.ts';
import { sessionFor, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let of: Belongings;
let folder: string;
/** Passes on what only reads. */
let reading: Server;
let refused: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-readable-'));
  receiver = await startWebhookReceiver();
  service = await startTestService({
    env: {
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      MCP_SERVERS: JSON.stringify({ readable: { url: `http://${receiver.hostAndPort}/mcp` } }),
    },
  });
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
  tenant = await service.tenant('acc_readable', 'scale');
  of = await makeBelongings(service, tenant, receiver, 'readable');
  const config = { region: 'eu', limits: { month: 3, tags: ['a', 'b'] } };
  const { status } = await tenant.cp('PATCH', `/v1/tools/${of.toolSlug}`, { schema: SCHEMA });
  expect(status).toBe(200);
  await runHere(['workspaces', 'create', 'acc_with_config', '--config', JSON.stringify(config)], environment(OPERATOR));
  reading = createServer((request, response) => {
    const { method, url, headers } = request;
    if (method !== 'GET') {
      refused.push(`${method} ${url}`);
      response.writeHead(403).end('{"detail":"read_only"}');
      return;
    }
    const { cookie = '', authorization = '' } = headers;
    void fetch(service.baseUrl + url, { headers: { cookie, ...(authorization && { authorization }) } }).then(
      async (reply) => response.writeHead(reply.status).end(await reply.text()),
    );
  }).listen(0);
  await once(reading, 'listening');
});
afterAll(async () => {
  reading?.close();
  await service?.close();
  await receiver?.close();
  await rm(folder, { recursive: true, force: true });
});

const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'What to say' },
    to: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  },
  required: ['text'],
};
const OPERATOR = sessionFor({ workspaceId: INTERNAL_WORKSPACE, customerId: 'internal', actor: 'owner@localhost' });
const environment = (session: string, address = service.baseUrl): NodeJS.ProcessEnv => ({
  ...process.env,
  DATA_DIR: folder,
  AOS_URL: address,
  AOS_SESSION: session,
  AOS_API_KEY: tenant.apiKey,
});

/** They work on this machine, ask for a credential, write files, or go on until something ends. */
const OTHERS = [
  ...['start', 'demo', 'doctor', 'completion', 'backup', 'restore', 'secrets rotate', 'login', 'logout', 'session'],
  ...['deployments list', 'deployments set-current', 'deployments ramp', 'memory re-embed', 'workspaces set-state'],
  ...['project watch', 'workspaces export'],
];
const leaves = leavesOf().filter(({ name }) => !OTHERS.includes(name));

/** @returns what the arguments of a command are to name, by the group that it is in */
function samplesFor({ name }: Leaf): Record<string, string> {
  const [group = ''] = name.split(' ');
  const ids: Readonly<Record<string, string>> = {
    memory: String(of.entryId),
    outputs: of.destinationId,
    inbox: of.waitId,
    workspaces: name === 'workspaces show' ? 'acc_with_config' : of.workspaceId,
  };
  const slugs: Readonly<Record<string, string>> = {
    agents: of.agentSlug,
    workflows: of.templateSlug,
    skills: of.skillSlug,
    tools: of.toolSlug,
  };
  return {
    'run-id': of.runId,
    project: of.projectId,
    thread: of.threadId,
    integration: 'smtp',
    name: group === 'mcp' ? 'readable' : '1',
    workspace: of.workspaceId,
    words: 'readable',
    question: 'readable',
    directory: join(folder, 'exported'),
    id: ids[group] ?? '1',
    slug: slugs[group] ?? '1',
  };
}

/** They are refused before they ask anything: what they are to change is not named. */
const CHANGES = [
  ...['project start', 'project retry', 'project approve', 'project reject', 'project attach', 'agents create'],
  ...['workflows create', 'inbox answer', 'inbox delegate', 'memory create', 'memory supersede', 'integrations set'],
  ...[
    'integrations unset',
    'workspaces delete',
    'members update',
    'members delete',
    'outputs create',
    'outputs update',
  ],
  ...['jobs attach', 'flags set'],
];
/** A text stands as a person or a model wrote it: here are the calls that the offline model is to make, and what it says of them. */
const withoutTexts = (text: string): string =>
  text.replaceAll(/\[\[tool:.*?(?:\]\]|…|$)/gm, '').replaceAll(/^- A tool answered: .*$/gm, '');
const JSON_PART = /\{\s*"|":|\[\s*[{"]/;

const shown = (leaf: Leaf, ...more: string[]) => {
  const session = /^(workspaces (list|show)|system) ?/.test(leaf.name) ? OPERATOR : tenant.session;
  refused = [];
  const address = `http://127.0.0.1:${portOf(reading)}`;
  return runHere(
    [...leaf.name.split(' '), ...argumentsOf(leaf, samplesFor(leaf)), ...more],
    environment(session, address),
  );
};

// Guards: every command that only reads shows people fields and lines, and prints JSON for programs.
test('commands that read', async () => {
  const withJson: [name: string, line: string][] = [];
  const readers: string[] = [];
  const ended: string[] = [];
  for (const leaf of leaves) {
    const { options } = leaf.command;
    const has = (long: string) => options.some((option) => option.long === long);
    const folderOfFiles = leaf.name === 'project artifacts' ? ['-o', join(folder, 'artifacts')] : [];
    const { code, stdout } = await shown(
      leaf,
      ...folderOfFiles,
      ...(has('--output') && folderOfFiles.length === 0 ? ['-o', 'wide'] : []),
    );
    // A command that changes something is known by what it sends.
    if (refused.length > 0) continue;
    if (code !== 0) {
      ended.push(leaf.name);
      continue;
    }
    readers.push(leaf.name);
    const lines = withoutTexts(stdout).split('\n');
    withJson.push(...lines.filter((line) => JSON_PART.test(line)).map((line): [string, string] => [leaf.name, line]));
    if (!has('--json')) continue;
    const { stdout: json } = await shown(leaf, ...folderOfFiles, '--json');
    expect([leaf.name, typeof JSON.parse(json)]).toEqual([leaf.name, 'object']);
  }
  expect(withJson).toEqual([]);
  expect(ended).toEqual(CHANGES);
  expect(readers).toEqual(
    expect.arrayContaining([
      'tools show',
      'outputs show',
      'audit',
      'workspaces show',
      'project events',
      'system info',
      'inbox show',
    ]),
  );
  expect(readers.length).toBeGreaterThan(45);
});

// Guards: so do those that ask something of the service without changing what it has.
test.each([
  ['outputs test', () => tenant.session],
  ['system reload', () => OPERATOR],
])('%s', async (name, session) => {
  const words = [...name.split(' '), ...(name === 'outputs test' ? [of.destinationId] : [])];
  const { code, stdout, stderr } = await runHere(words, environment(session()));
  expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/^\w+:/) });
  expect(stdout).not.toMatch(JSON_PART);
  expect(JSON.parse((await runHere([...words, '--json'], environment(session()))).stdout)).toBeInstanceOf(Object);
});

// Guards: values with fields are readable, also where a preview of them is cut.
test('values', () => {
  const value = { slug: 'greet', tags: ['a', 'b'], limits: { month: 3, day: null }, text: 'one\ntwo', none: {} };
  expect(fieldsInLine(value)).toBe('slug=greet, tags=[a, b], limits=(month=3, day=none), text=one two, none=()');
  expect(fieldLines({ ...value, rows: [{ a: 1, b: 2 }] })).toEqual([
    ...['slug: greet', 'tags:', '  - a', '  - b', 'limits:', '  month: 3', '  day: none', 'text:', '  one', '  two'],
    ...['none:', 'rows:', '  - a: 1', '    b: 2'],
  ]);
  expect(previewInLine('{"expression":"2340*0.17"}')).toBe('expression=2340*0.17');
  expect(previewInLine('{"title":"A","tags":["a","b"],"text":"Once up…')).toBe('title=A, tags=[a, b], text=Once up…');
  expect(previewInLine('398.25')).toBe('398.25');
  expect(typeOf(SCHEMA)).toBe('(text: string, to?: (name: string)[])');
  expect(typeOf({ anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] })).toBe('a | b | null');
});
