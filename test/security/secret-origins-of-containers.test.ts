/**
 * A container gives its environment to a program, and what the program prints is the result of a call. Its secrets stay with
 * what decides what it prints, by every way to change that. Secrets beside an address: `secret-origins.test.ts`.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let count = 0;

beforeAll(async () => {
  service = await startTestService({ env: { TOOLS_CONTAINER: 'docker' } });
});
afterAll(() => service?.close());
beforeEach(async () => {
  count += 1;
  tenant = await service.tenant(`acc_containers_${count}`);
});

type Content = Record<string, unknown>;
const post = (session: string, what: string, content: Content) =>
  call(
    `${service.baseUrl}/api/v1/cp/v1/manifests/${what}`,
    'POST',
    { cookie: `service_session=${session}` },
    { manifests: [{ kind: 'tool', content }] },
  );
const deployToken = async (): Promise<string> =>
  (await tenant.cp('POST', '/v1/deploy-tokens', { name: 'pipeline' })).body.token;

describe('the environment of a container', () => {
  // A long value is taken for a secret too, such as an address.
  const SECRETS = { API_KEY: 'canary', API_URL: 'https://home.example' };
  const body = { image: 'tools:1', argv: ['sh', '-c', 'report ${API_KEY}'], env: SECRETS };
  const schema = { type: 'object', properties: { kind: { enum: ['day', 'week'] } } };
  const tool = { slug: 'thing', description: 'Runs.', kind: 'container', schema, body };
  const kept = (mask: unknown) => ({ API_KEY: mask, API_URL: mask });
  /** What makes the same environment readable for somebody else. */
  const MOVES: Record<string, (mask: unknown) => Content> = {
    'another image': (mask) => ({ body: { ...body, image: 'tools:2', env: kept(mask) } }),
    'other arguments': (mask) => ({ body: { ...body, argv: ['env'], env: kept(mask) } }),
    'the arguments of the image': (mask) => ({ body: { image: body.image, env: kept(mask) } }),
    'one more variable': (mask) => ({ body: { ...body, env: { ...kept(mask), BASH_ENV: '/dev/stdin' } } }),
    // The brace of the shell becomes a place for what the caller says.
    'one more argument': (mask) => ({
      schema: { type: 'object', properties: { ...schema.properties, API_KEY: { type: 'string' } } },
      body: { ...body, env: kept(mask) },
    }),
    'an argument with more values': (mask) => ({
      schema: { type: 'object', properties: { kind: { type: 'string' } } },
      body: { ...body, env: kept(mask) },
    }),
  };
  const refused = expect.stringMatching(/env\.API_KEY.*the secret was given for the image and arguments/);
  const change = (more: Content) => tenant.cp('PATCH', '/v1/tools/thing', more);
  beforeEach(async () => {
    expect((await tenant.cp('POST', '/v1/tools', tool)).status).toBe(201);
  });

  // Guards: what a program prints is the result of a call, so the environment stays with the program that it was meant for.
  test.each(Object.entries(MOVES))('does not stay with %s', async (_, move) => {
    expect(await change(move('***'))).toMatchObject({ status: 400, body: { detail: refused } });
    const content = { ...tool, ...move({ env: 'NOT_GIVEN' }) };
    for (const session of [sessionFor(tenant.caller, 'member'), await deployToken()]) {
      for (const what of ['plan', 'apply']) {
        const { status, body: answer } = await post(session, what, content);
        expect({ status, answer: JSON.stringify(answer) }).toEqual({
          status: 422,
          answer: expect.stringMatching(/"env","API_KEY".*the secret was given for the image and arguments/),
        });
      }
    }
    expect(
      (await change({ ...move('***'), body: { ...body, ...(move('***')['body'] as object), env: SECRETS } })).status,
    ).toBe(200);
  });

  // Guards: a change that says nothing of the body keeps its secrets as well.
  test('does not stay with another schema that comes alone', async () => {
    const more = { schema: { type: 'object', properties: { API_KEY: { type: 'string' } } } };
    expect(await change(more)).toMatchObject({ status: 400, body: { detail: refused } });
  });

  // Guards: an address in a variable is a secret by its length, and takes no other variable along.
  test('does not stay beside another value of a variable', async () => {
    const env = { API_KEY: '***', API_URL: 'https://elsewhere.example' };
    expect(await change({ body: { ...body, env } })).toMatchObject({ status: 400, body: { detail: refused } });
  });

  // Guards: a change of anything else needs no secret, by whatever way.
  test('stays with its program', async () => {
    const same = { ...body, timeout_s: 5 };
    expect((await change({ description: 'Reports.' })).status).toBe(200);
    expect((await change({ body: { ...same, env: kept('***') } })).status).toBe(200);
    // The service adds the type of a schema.
    const content = { ...tool, schema: { properties: schema.properties }, body: { ...body, env: kept({ env: 'NO' }) } };
    expect((await post(await deployToken(), 'apply', content)).status).toBe(200);
  });
});
