/**
 * A write-only secret stays with the origin that it was given for. Everything that keeps a secret beside an address is
 * made with its address at one receiver and moved to another one, by every way there is; then it is used, and the other
 * receiver must not have seen the secret. Integrations: `secret-origins-of-integrations.test.ts`; environments of containers:
 * `secret-origins-of-containers.test.ts`.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '../../src/platform/core/present.ts';
import { servedTools } from '../../src/mcp-server/tools.ts';
import { FOLDERS, type ManifestKind } from '../../src/resources/manifests/model.ts';
import { DESTINATION_KINDS, SECRET_FIELDS } from '../../src/resources/output-destinations/model.ts';
import { TOOL_KINDS } from '../../src/resources/tools/model.ts';
import { SEALED_COLUMNS } from '../../src/rotate-secrets.ts';
import { runCli } from '../embedded/service-process.ts';
import { createCanaries, startCanaryReceiver, type CanaryReceiver } from '../support/security/canary-receivers.ts';
import {
  call,
  eventually,
  sessionFor,
  startTestService,
  type Answer,
  type Tenant,
  type TestService,
} from '../support/service/service.ts';

let service: TestService;
let home: CanaryReceiver;
let elsewhere: CanaryReceiver;
let tenant: Tenant;
let count = 0;
const canaries = createCanaries();

beforeAll(async () => {
  [home, elsewhere] = await Promise.all([startCanaryReceiver(), startCanaryReceiver()]);
  service = await startTestService({
    env: {
      EGRESS_ALLOWLIST: `${home.hostAndPort},${elsewhere.hostAndPort}`,
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_RETRY_INITIAL: '10ms',
    },
  });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([home?.close(), elsewhere?.close()]);
});
beforeEach(async () => {
  count += 1;
  tenant = await service.tenant(`acc_origins_${count}`);
  for (const receiver of [home, elsewhere]) {
    receiver.received.splice(0);
    receiver.redirectTo = undefined;
  }
});

type Content = Record<string, unknown>;

/** A kind of thing that keeps a secret beside an address. */
interface Thing {
  manifest: ManifestKind;
  /** @param at where the address leads @param secret undefined: the one that is kept */
  content(at: string, secret: unknown): Content;
  /** The endpoint that makes one, unless files alone can; what changes one has its address below. */
  path?: string;
  /** How a reply names it. */
  idField?: 'slug' | 'id';
  /** The fields that a change of the address sends. */
  moved: (content: Content) => Content;
  /** Has the service send what the secret is for. */
  use(): Promise<unknown>;
}

const useTool = async () => {
  await tenant.cp('POST', '/v1/agents', {
    slug: 'user',
    model: 'offline',
    prompt: 'You call.',
    allowed_tool_slugs: ['thing'],
  });
  return tenant.run({ agent: 'user', prompt: 'Go. [[tool:thing {}]]' });
};
const useDestination = async () => {
  const { body } = await tenant.cp('GET', '/v1/output-destinations');
  return tenant.cp('POST', `/v1/output-destinations/${body.data[0].id}/test`);
};
const destination = (kind: string, config: Content): Content => ({ name: 'thing', kind, config });

const THINGS: Record<string, Thing> = {
  'a tool with a secret header': {
    manifest: 'tool',
    content: (at, secret) => ({
      slug: 'thing',
      description: 'Calls.',
      kind: 'webhook',
      schema: { type: 'object', properties: {} },
      body: { url: `${at}/tool`, headers: { 'X-Api-Key': secret } },
    }),
    path: '/v1/tools',
    idField: 'slug',
    moved: ({ body }) => ({ body }),
    use: useTool,
  },
  'a destination of kind webhook': {
    manifest: 'destination',
    content: (at, secret) => destination('webhook', { url: `${at}/out`, secret }),
    path: '/v1/output-destinations',
    idField: 'id',
    moved: ({ config }) => ({ config }),
    use: useDestination,
  },
  'a destination of kind s3': {
    manifest: 'destination',
    content: (at, secret) =>
      destination('s3', {
        endpoint: at,
        region: 'eu-west-1',
        bucket: 'things',
        access_key_id: secret,
        secret_access_key: secret,
      }),
    path: '/v1/output-destinations',
    idField: 'id',
    moved: ({ config }) => ({ config }),
    use: useDestination,
  },
  'a webhook': {
    manifest: 'webhook',
    content: (at, secret) => ({ url: `${at}/hook`, secret }),
    moved: (content) => content,
    async use() {
      const { run_id: id } = await tenant.run({ agent: 'assistant', prompt: 'Hello' });
      await eventually(async () => {
        const { body } = await tenant.cp('GET', '/v1/webhook-deliveries');
        if (body.data.some(({ status }: { status: string }) => status === 'pending')) throw new Error(`pending: ${id}`);
      });
    },
  },
};
const things = Object.entries(THINGS);
const idOf = ({ idField }: Thing, { body }: Answer): string => String(body[present(idField)]);

/** @returns the secret that the thing was made with, at home */
async function makeAtHome(thing: Thing): Promise<{ secret: string; id?: string }> {
  const { content, path, manifest } = thing;
  const secret = canaries.secretFor(home.origin);
  const made = path
    ? await tenant.cp('POST', path, content(home.origin, secret))
    : await apply(tenant.session, manifest, content(home.origin, { env: 'THING' }), { THING: secret });
  expect([200, 201]).toContain(made.status);
  return { secret, ...(path && { id: idOf(thing, made) }) };
}

const cookie = (session: string) => ({ cookie: `service_session=${session}` });
const send = (headers: Record<string, string>, method: string, path: string, body: unknown): Promise<Answer> =>
  call(`${service.baseUrl}/api/v1/cp${path}`, method, headers, body);
const apply = (session: string, kind: ManifestKind, content: Content, secrets = {}, what = 'apply') =>
  send(cookie(session), 'POST', `/v1/manifests/${what}`, { manifests: [{ kind, content }], secrets });
const deployToken = async (): Promise<string> =>
  (await tenant.cp('POST', '/v1/deploy-tokens', { name: 'pipeline' })).body.token;

/** @returns a folder of files for the command, to be removed after use */
async function folderWith(manifest: ManifestKind, content: Content): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-origins-'));
  await mkdir(join(folder, FOLDERS[manifest]));
  await writeFile(join(folder, FOLDERS[manifest], 'thing.yaml'), JSON.stringify(content));
  return folder;
}
const cliEnv = async (folder: string) => ({
  DATA_DIR: folder,
  AOS_URL: service.baseUrl,
  AOS_SESSION: await deployToken(),
  AOS_API_KEY: '',
});

interface Way {
  /** @returns whether the change was refused with a reason that names the secret */
  (thing: Thing, moved: Content, id: string | undefined): Promise<{ isRefused: boolean; reason: string }>;
}

const refusal = ({ status, body }: Answer) => ({
  isRefused: status === 400 || status === 422,
  reason: JSON.stringify(body),
});
/** Ways that send `***`, and those that name a variable that is not given. */
const CHANGES: Record<string, Way> = {
  'a session of a member': async ({ path }, moved, id) =>
    refusal(await send(cookie(sessionFor(tenant.caller, 'member')), 'PATCH', `${path}/${id}`, moved)),
};
const FILES: Record<string, Way> = {
  'a manifest of a member': async ({ manifest }, content) =>
    refusal(await apply(sessionFor(tenant.caller, 'member'), manifest, content)),
  'a manifest of a deploy token': async ({ manifest }, content) =>
    refusal(await apply(await deployToken(), manifest, content)),
  'a plan of a deploy token': async ({ manifest }, content) =>
    refusal(await apply(await deployToken(), manifest, content, {}, 'plan')),
  async 'a file'({ manifest }, content) {
    const folder = await folderWith(manifest, content);
    try {
      const { code, stderr } = await runCli(['apply', folder, '--yes'], await cliEnv(folder));
      return { isRefused: code === 1, reason: stderr };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};
const WAYS = things.flatMap(([name, thing]) => [
  ...Object.entries(thing.path ? CHANGES : {}).map(([way, by]) => ({ name, way, thing, by, kept: '***' as unknown })),
  ...Object.entries(FILES).map(([way, by]) => ({ name, way, thing, by, kept: { env: 'NOT_GIVEN' } as unknown })),
]);
const REASON = /the secret was given for|the environment has no NOT_GIVEN/;

describe('an address that changes', () => {
  // Guards: no way of changing an address takes a secret along that was given for another one.
  test.each(WAYS)('of $name by $way leaves the secret behind', async ({ way, thing, by, kept }) => {
    const { secret, id } = await makeAtHome(thing);
    await thing.use();
    expect(canaries.hasArrived(secret, home)).toBe(true);

    const isChange = Object.hasOwn(CHANGES, way);
    const content = thing.content(elsewhere.origin, kept);
    const { isRefused, reason } = await by(thing, isChange ? thing.moved(content) : content, id);
    expect({ isRefused, reason }).toEqual({ isRefused: true, reason: expect.stringMatching(REASON) });
    await thing.use();
    expect(canaries.leaksTo(elsewhere)).toEqual([]);
    // Another scheme is another origin: what listens there may be somebody else.
    const plain = thing.content(home.origin.replace('http:', 'https:'), kept);
    expect(await by(thing, isChange ? thing.moved(plain) : plain, id)).toMatchObject({ isRefused: true });
  });

  // Guards: with its secret a thing moves, and at the same origin the secret stays.
  test.each(things.filter(([, { path }]) => path))('of %s takes a secret that is sent again', async (_, thing) => {
    const { secret, id } = await makeAtHome(thing);
    const path = `${thing.path}/${id}`;
    const at = (origin: string, given: string) => thing.moved(thing.content(origin, given));
    expect((await tenant.cp('PATCH', path, at(home.origin, '***'))).status).toBe(200);
    await thing.use();
    expect(canaries.hasArrived(secret, home)).toBe(true);
    const another = canaries.secretFor(elsewhere.origin);
    expect((await tenant.cp('PATCH', path, at(elsewhere.origin, another))).status).toBe(200);
    await thing.use();
    expect(canaries.hasArrived(another, elsewhere)).toBe(true);
    expect([...canaries.leaksTo(elsewhere), ...canaries.leaksTo(home)]).toEqual([]);
  });

  // Guards: a receiver cannot hand a secret on by a redirect.
  test.each(things)('by a redirect leaves the secret of %s behind', async (_, thing) => {
    const { secret } = await makeAtHome(thing);
    home.redirectTo = elsewhere.origin;
    await thing.use();
    expect(canaries.hasArrived(secret, home)).toBe(true);
    expect(canaries.leaksTo(elsewhere)).toEqual([]);
  });

  // Guards: of two changes at the same moment neither keeps the secret that the other one brings.
  test.each(things.filter(([, { path }]) => path))('of %s by two at once', async (_, thing) => {
    const { id } = await makeAtHome(thing);
    const move = (to: string, secret: string) =>
      tenant.cp('PATCH', `${thing.path}/${id}`, thing.moved(thing.content(to, secret)));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([
        move(elsewhere.origin, canaries.secretFor(elsewhere.origin)),
        move(home.origin, '***'),
        move(elsewhere.origin, '***'),
        move(home.origin, canaries.secretFor(home.origin)),
        thing.use(),
      ]);
    }
    await thing.use();
    expect([...canaries.leaksTo(elsewhere), ...canaries.leaksTo(home)]).toEqual([]);
  });
});

// Guards: of two secrets, the one that is sent again does not take the other one along.
test.each([
  [
    'a tool',
    '/v1/tools',
    { body: { url: 'https://elsewhere.example/x', headers: { 'X-Key': 'new', 'X-Token': '***' } } },
  ],
  [
    'a destination',
    '/v1/output-destinations',
    { config: { endpoint: 'https://elsewhere.example', access_key_id: 'new' } },
  ],
  [
    'a destination in another region',
    '/v1/output-destinations',
    { config: { endpoint: null, secret_access_key: 'new' } },
  ],
] as const)('%s does not move with half of its secrets', async (_, path, change) => {
  const made = await tenant.cp(
    'POST',
    path,
    path === '/v1/tools'
      ? {
          slug: 'thing',
          description: 'Calls.',
          kind: 'webhook',
          schema: { type: 'object' },
          body: { url: 'https://home.example/x', headers: { 'X-Key': 'canary', 'X-Token': 'canary' } },
        }
      : destination('s3', {
          endpoint: 'https://home.example',
          region: 'eu-west-1',
          bucket: 'things',
          access_key_id: 'canary',
          secret_access_key: 'canary',
        }),
  );
  expect(made.status).toBe(201);
  const { status, body } = await tenant.cp('PATCH', `${path}/${made.body.slug ?? made.body.id}`, change);
  expect([400, 422]).toContain(status);
  expect(JSON.stringify(body)).toContain('the secret was given for https://home.example');
});

// Guards: whoever looks at a plan sees where each secret would go.
test.each(things)('a plan says where the secret of %s goes', async (_, thing) => {
  const content = thing.content(elsewhere.origin, { env: 'THING' });
  const { body } = await apply(tenant.session, thing.manifest, content, { THING: 'x'.repeat(20) }, 'plan');
  const [change] = body.changes;
  expect(change.secrets.length).toBeGreaterThan(0);
  for (const { path, to } of change.secrets) {
    expect({ path, to }).toEqual({ path: expect.stringMatching(/secret|key/i), to: elsewhere.origin });
  }
  expect(JSON.stringify(body)).not.toContain('x'.repeat(20));
});

// Guards: so does whoever is asked by the command before it applies anything.
test('a printed plan says where each secret goes', async () => {
  const [name, thing] = present(things[0]);
  const folder = await folderWith(thing.manifest, thing.content(elsewhere.origin, { env: 'THING' }));
  try {
    const { stdout } = await runCli(['plan', folder], { ...(await cliEnv(folder)), THING: 'x'.repeat(20) });
    expect({ name, stdout }).toEqual({
      name,
      stdout: expect.stringContaining(`secret body.headers.X-Api-Key goes to ${elsewhere.origin}`),
    });
    expect(stdout).not.toContain('x'.repeat(20));
  } finally {
    await rm(folder, { recursive: true });
  }
});

// Guards: clients of MCP change no address, as long as no tool of the service takes one.
test('no tool of the MCP server takes an address or a secret', () => {
  const { audit, pageKeys } = service.services;
  const tools = servedTools(service.routes, { audit: audit.trail, pageKeys });
  const taken = tools.flatMap(({ inputSchema: { properties } }) => Object.keys(properties ?? {}));
  expect(taken.filter((name) => /^(url|address|body|config|headers|value|manifests|secrets?)$/.test(name))).toEqual([]);
});

describe('the list of things', () => {
  // Guards: a new table with secrets is asked about here, or is nobody's to point elsewhere.
  test('has every table with secrets', () => {
    const tables = new Set(SEALED_COLUMNS.map(({ table }) => table));
    // What the router gives is sent to the address that the operator set.
    expect([...tables].sort()).toEqual([
      'integration_credentials',
      'integration_secrets',
      'output_destinations',
      'router_keys',
      'tools',
      'webhook_subscriptions',
    ]);
  });

  // Guards: so is a new kind of tool or destination.
  test('has every kind with secrets', () => {
    const toolKinds = TOOL_KINDS.filter((kind) => service.services.customTools.secretFieldsOf(kind).length > 0);
    expect(toolKinds).toEqual(['webhook', 'container']);
    const kinds = DESTINATION_KINDS.filter((kind) => SECRET_FIELDS[kind].length > 0);
    // The secret of the kind slack is its address.
    expect(kinds).toEqual(['webhook', 'slack', 's3']);
  });
});
