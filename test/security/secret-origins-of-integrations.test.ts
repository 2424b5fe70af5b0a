/**
 * What a workspace gives to an integration goes to the addresses that the integration has, and to those that the workspace
 * named before it gave the secret. Generated over the catalogue. Other secrets: `secret-origins.test.ts`.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../src/platform/core/present.ts';
import { createBaseAddresses, ADDRESS_SECRETS } from '../../src/resources/integrations/addresses.ts';
import { integrations, tokenKindOf } from '../../src/resources/integrations/catalogue.ts';
import { createCredentials } from '../../src/resources/integrations/credentials.ts';
import { createHealthChecks } from '../../src/resources/integrations/health.ts';
import { MCP_URL } from '../../src/resources/integrations/model.ts';
import { BASE_URL, SERVER_HOST, SERVER_PORT } from '../../src/resources/integrations/provider.ts';
import { createIntegrationStore } from '../../src/resources/integrations/store.ts';
import {
  createCanaries,
  startCanaryMailServer,
  startCanaryReceiver,
  type CanaryMailServer,
  type CanaryReceiver,
} from '../support/security/canary-receivers.ts';
import { untilWaiting } from '../support/database/locks.ts';
import { confirmed, demandIn, otpHeaders } from '../support/service/otp.ts';
import {
  call,
  eventually,
  sessionFor,
  startTestService,
  type Tenant,
  type TestService,
} from '../support/service/service.ts';

let service: TestService;
let home: CanaryReceiver;
let elsewhere: CanaryReceiver;
/** In the place of all providers. */
let provider: CanaryReceiver;
let homeMail: CanaryMailServer;
let elsewhereMail: CanaryMailServer;
let tenant: Tenant;
let count = 0;
const canaries = createCanaries();

beforeAll(async () => {
  [home, elsewhere, provider, homeMail, elsewhereMail] = await Promise.all([
    startCanaryReceiver(),
    startCanaryReceiver(),
    startCanaryReceiver(),
    startCanaryMailServer(),
    startCanaryMailServer(),
  ]);
  const published = [...integrations.values()].filter(({ baseUrl }) => baseUrl).map(({ slug }) => slug);
  const mailPorts = [homeMail, elsewhereMail].map(({ port }) => `127.0.0.1:${port}`);
  service = await startTestService({
    env: {
      INTEGRATION_BASE_URLS: published.map((slug) => `${slug}=${provider.origin}/${slug}`).join(','),
      EGRESS_ALLOWLIST:
        [home, elsewhere, provider].map(({ hostAndPort }) => hostAndPort).join() + `,${mailPorts.join()}`,
    },
  });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([home, elsewhere, provider, homeMail, elsewhereMail].map((each) => each?.close()));
});
beforeEach(async () => {
  count += 1;
  tenant = await service.tenant(`acc_integrations_${count}`);
  for (const receiver of [home, elsewhere, provider]) {
    receiver.received.splice(0);
    receiver.redirectTo = undefined;
  }
});

const secretPath = (slug: string, key: string) => `/v1/integrations/${slug}/secrets/${key}`;
const tokenPath = (slug: string) =>
  `/v1/integrations/${slug}/credentials/${present(tokenKindOf(present(integrations.get(slug))))}`;
const set = async (path: string, value: string) =>
  expect(await confirmed(tenant, 'PUT', path, { value })).toMatchObject({ status: 200 });
const unset = async (path: string) => expect(await confirmed(tenant, 'DELETE', path)).toMatchObject({ status: 204 });
const refused = {
  status: 400,
  body: { detail: expect.stringMatching(/was given for another address and stays there/) },
};

/** Everything that sends tokens by itself: checks of health, lists of MCP tools, runs. */
async function useEverything(): Promise<void> {
  const { db } = service.runtime;
  await db.rows(sql`update integration_credentials set check_at = now()`);
  await service.services.checkCredentials({}, new AbortController().signal);
  await tenant.cp('GET', '/v1/tools');
  await tenant.run({ agent: 'assistant', prompt: 'Go.', override: { model_override: 'default' } });
}
/** Waits for a secret: a check of health that something else has started may have taken the token before. */
const arrives = (secret: string, at: CanaryReceiver) =>
  eventually(() => expect(canaries.hasArrived(secret, at)).toBe(true));
const leaks = () => [home, elsewhere, provider].flatMap(canaries.leaksTo);

/** Each address that a workspace may name, with what is sent its token. */
const ADDRESSES = [...integrations.values()].flatMap(({ slug, slots, baseUrl }) =>
  slots.flatMap(({ key, format }) => (format === 'address' ? [{ slug, key, hasProvider: baseUrl !== undefined }] : [])),
);
/** A token is for the provider too, unless the workspace has a server in its place. */
const originsAtHome = ({ key, hasProvider }: (typeof ADDRESSES)[number]): string[] =>
  key === BASE_URL || !hasProvider ? [home.origin] : [home.origin, provider.origin];

describe('an address of an integration', () => {
  // Guards: a token that was given for one address does not go to the next one; with a new token the address moves.
  test.each(ADDRESSES)('$slug: $key leaves the token behind', async (address) => {
    const { slug, key, hasProvider } = address;
    await set(secretPath(slug, key), `${home.origin}/v1`);
    const token = canaries.secretFor(...originsAtHome(address));
    await set(tokenPath(slug), token);
    await useEverything();
    await arrives(token, home);

    const moved = { value: `${elsewhere.origin}/v1` };
    expect(await confirmed(tenant, 'PUT', secretPath(slug, key), moved)).toMatchObject(refused);
    const plain = { value: `${home.origin.replace('http:', 'https:')}/v1` };
    expect(await confirmed(tenant, 'PUT', secretPath(slug, key), plain)).toMatchObject(refused);
    await set(secretPath(slug, key), `${home.origin}/v2`);
    if (key === BASE_URL && hasProvider)
      expect(await confirmed(tenant, 'DELETE', secretPath(slug, key))).toMatchObject(refused);
    await useEverything();
    expect(leaks()).toEqual([]);

    await unset(tokenPath(slug));
    await set(secretPath(slug, key), `${elsewhere.origin}/v1`);
    const another = canaries.secretFor(elsewhere.origin, ...originsAtHome(address).slice(1));
    await set(tokenPath(slug), another);
    await useEverything();
    await arrives(another, elsewhere);
    expect(leaks()).toEqual([]);
  });

  // Guards: an address that comes after the token would get what was given to the provider alone, or to nobody.
  test.each(ADDRESSES)('$slug: $key comes before the token', async ({ slug, key, hasProvider }) => {
    await set(tokenPath(slug), canaries.secretFor(...(hasProvider ? [provider.origin] : [])));
    const value = `${elsewhere.origin}/v1`;
    expect(await confirmed(tenant, 'PUT', secretPath(slug, key), { value })).toMatchObject(refused);
    await useEverything();
    expect(leaks()).toEqual([]);
  });

  // Guards: a server cannot hand a token on by a redirect.
  test.each(ADDRESSES)('$slug: $key does not redirect the token', async (address) => {
    await set(secretPath(address.slug, address.key), `${home.origin}/v1`);
    const token = canaries.secretFor(...originsAtHome(address));
    await set(tokenPath(address.slug), token);
    home.redirectTo = elsewhere.origin;
    provider.redirectTo = elsewhere.origin;
    await useEverything();
    await arrives(token, home);
    expect(leaks()).toEqual([]);
  });

  // Guards: so do the host and the port of a mail server, with the user and the password.
  test('a mail server leaves user and password behind', async () => {
    const [user, password] = [canaries.secretFor('mail at home'), canaries.secretFor('mail at home')];
    await set(secretPath('smtp', SERVER_HOST), '127.0.0.1');
    await set(secretPath('smtp', SERVER_PORT), String(homeMail.port));
    await set(secretPath('smtp', 'server.user'), user);
    const port = { value: String(elsewhereMail.port) };
    expect(await confirmed(tenant, 'PUT', secretPath('smtp', SERVER_PORT), port)).toMatchObject(refused);
    await set(tokenPath('smtp'), password);
    await useEverything();
    await eventually(() => expect(homeMail.logins).toEqual(expect.arrayContaining([user, password])));
    for (const [key, value] of [
      [SERVER_PORT, port.value],
      [SERVER_HOST, 'localhost'],
    ] as const)
      expect(await confirmed(tenant, 'PUT', secretPath('smtp', key), { value })).toMatchObject(refused);
    expect(await confirmed(tenant, 'DELETE', secretPath('smtp', SERVER_PORT))).toMatchObject(refused);
    await useEverything();
    expect(elsewhereMail.logins).toEqual([]);
  });

  // Guards: a token of another scope is checked at the same address, so it stays as well.
  test('leaves tokens of every scope behind', async () => {
    await set(secretPath('gitlab', BASE_URL), `${home.origin}/v1`);
    const body = { value: canaries.secretFor(home.origin), scope: 'personal' };
    expect((await confirmed(tenant, 'PUT', tokenPath('gitlab'), body)).status).toBe(200);
    const value = `${elsewhere.origin}/v1`;
    expect(await confirmed(tenant, 'PUT', secretPath('gitlab', BASE_URL), { value })).toMatchObject(refused);
    await useEverything();
    expect(leaks()).toEqual([]);
  });

  // Guards: the check is made again with the code, since a token may have been given in between.
  test('is checked again when it is confirmed', async () => {
    const path = secretPath('gitlab', BASE_URL);
    const body = { value: `${elsewhere.origin}/v1` };
    const demand = demandIn(await tenant.cp('PUT', path, body));
    await set(tokenPath('gitlab'), canaries.secretFor(provider.origin));
    expect(await tenant.cp('PUT', path, body, otpHeaders(demand.challenge_id))).toMatchObject(refused);
    await useEverything();
    expect(leaks()).toEqual([]);
  });
});

// Guards: of a token and an address that come at the same moment, the token is not sent to an address that it did not know.
test('an address that waits for a token to be set is looked at again', async () => {
  const { db } = service.runtime;
  const turn = `integration:${tenant.caller.customerId}/gitlab`;
  const address = { value: `${elsewhere.origin}/v1` };
  const token = { value: canaries.secretFor(provider.origin) };
  const path = secretPath('gitlab', BASE_URL);
  const [tokenDemand, addressDemand] = [
    demandIn(await tenant.cp('PUT', tokenPath('gitlab'), token)),
    demandIn(await tenant.cp('PUT', path, address)),
  ];
  const answers: ReturnType<Tenant['cp']>[] = [];
  await db.transaction(async () => {
    await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${turn}, 0))`);
    answers.push(tenant.cp('PUT', tokenPath('gitlab'), token, otpHeaders(tokenDemand.challenge_id)));
    await untilWaiting(db, 1);
    answers.push(tenant.cp('PUT', path, address, otpHeaders(addressDemand.challenge_id)));
    await untilWaiting(db, 2);
  });
  expect(await Promise.all(answers)).toMatchObject([{ status: 200 }, refused]);
  await useEverything();
  expect(leaks()).toEqual([]);
});

const toolAt = (url: string, more: object = {}) => ({
  slug: 'caller',
  description: 'Calls.',
  kind: 'webhook',
  schema: { type: 'object', properties: {} },
  body: { url },
  ...more,
});
const callTool = async () => {
  const agent = { slug: 'user', model: 'offline', prompt: 'You call.', allowed_tool_slugs: ['caller'] };
  await tenant.cp('POST', '/v1/agents', agent);
  const { run_id: id } = await tenant.run({ agent: 'user', prompt: 'Go. [[tool:caller {}]]' });
  const { body } = await tenant.cp('GET', `/v1/runs/${id}/events`);
  return JSON.stringify(body);
};

describe('a tool that names an integration', () => {
  const EVERY = [...integrations.values()].map(({ slug }) => ({ slug }));
  const notItsAddress = expect.stringMatching(/is no address of the integration/);

  // Guards: nobody saves a tool that would send a token to an address of their choice, by no way.
  test.each(EVERY)('$slug is saved with its addresses alone', async ({ slug }) => {
    const away = toolAt(`${elsewhere.origin}/x`, { integration: slug });
    expect(await tenant.cp('POST', '/v1/tools', away)).toMatchObject({ status: 400, body: { detail: notItsAddress } });
    expect((await tenant.cp('POST', '/v1/tools', toolAt(`${elsewhere.origin}/x`))).status).toBe(201);
    expect(await tenant.cp('PATCH', '/v1/tools/caller', { integration: slug })).toMatchObject({
      status: 400,
      body: { detail: notItsAddress },
    });
    const { token } = (await tenant.cp('POST', '/v1/deploy-tokens', { name: 'pipeline' })).body;
    for (const session of [token, sessionFor(tenant.caller, 'member')]) {
      for (const what of ['plan', 'apply']) {
        const path = `${service.baseUrl}/api/v1/cp/v1/manifests/${what}`;
        const manifests = [{ kind: 'tool', content: away }];
        expect(await call(path, 'POST', { cookie: `service_session=${session}` }, { manifests })).toMatchObject({
          status: 422,
          body: { detail: [{ msg: notItsAddress }] },
        });
      }
    }
  });

  // Guards: with an address of the integration it is saved, planned and called, and the plan says where the token goes.
  test('calls the addresses of the integration', async () => {
    const token = canaries.secretFor(provider.origin);
    await set(tokenPath('github'), token);
    const content = toolAt(`${provider.origin}/github/repos`, { integration: 'github' });
    const { body } = await tenant.cp('POST', '/v1/manifests/plan', { manifests: [{ kind: 'tool', content }] });
    expect(body.changes).toMatchObject([{ secrets: [{ path: 'token of github', to: provider.origin }] }]);
    expect((await tenant.cp('POST', '/v1/tools', content)).status).toBe(201);
    await callTool();
    await arrives(token, provider);
    const moved = { body: { url: `${elsewhere.origin}/x` } };
    expect(await tenant.cp('PATCH', '/v1/tools/caller', moved)).toMatchObject({ status: 400 });
    await callTool();
    expect(leaks()).toEqual([]);
  });

  // Guards: the integration may get another address, and another token, after the tool was saved.
  test('does not send a later token to an earlier address', async () => {
    await set(secretPath('gitlab', BASE_URL), `${home.origin}/v1`);
    await set(tokenPath('gitlab'), canaries.secretFor(home.origin));
    expect((await tenant.cp('POST', '/v1/tools', toolAt(`${home.origin}/x`, { integration: 'gitlab' }))).status).toBe(
      201,
    );
    await unset(tokenPath('gitlab'));
    await set(secretPath('gitlab', BASE_URL), `${elsewhere.origin}/v1`);
    await set(tokenPath('gitlab'), canaries.secretFor(elsewhere.origin));
    expect(await callTool()).toContain('is no address of the integration');
    expect(leaks()).toEqual([]);
  });
});

// Guards: a check that is under way while the address moves does not take the token of before to the new address.
test('a check of health that has begun before an address moved sends nothing to it', async () => {
  const { config, db, log } = service.runtime;
  const { egress, secretBox } = service.services;
  await set(secretPath('gitlab', BASE_URL), `${home.origin}/v1`);
  await set(tokenPath('gitlab'), canaries.secretFor(home.origin));
  await db.rows(sql`update integration_credentials set check_at = now()`);
  const store = createIntegrationStore(db);
  const checks = createHealthChecks({
    store: {
      ...store,
      async claimDue(query) {
        const due = await store.claimDue(query);
        if (!due.some(({ customerId }) => customerId === tenant.caller.customerId)) return due;
        await unset(tokenPath('gitlab'));
        await set(secretPath('gitlab', BASE_URL), `${elsewhere.origin}/v1`);
        return due;
      },
    },
    secretBox,
    addresses: createBaseAddresses(config),
    egress,
    settings: config,
    log,
  });
  await checks.checkCredentials({}, new AbortController().signal);
  expect(leaks()).toEqual([]);
});

// Guards: two reads could pair a token with the address of before, or of after.
test('whatever uses a token reads it together with its address', async () => {
  const { config, db } = service.runtime;
  const { secretBox } = service.services;
  const { customerId } = tenant.caller;
  const store = createIntegrationStore(db);
  let reads = 0;
  const { integrationCredential, modelCredentials, mcpServersOf } = createCredentials({
    store: {
      async listSealed(...asked) {
        reads += 1;
        return store.listSealed(...asked);
      },
    },
    secretBox,
    addresses: createBaseAddresses(config),
    managedRouter: async () => undefined,
  });
  const [gitlab, model, github] = [canaries.secretFor(home.origin), canaries.secretFor(), canaries.secretFor()];
  await set(secretPath('gitlab', BASE_URL), `${home.origin}/v1`);
  await set(tokenPath('gitlab'), gitlab);
  await set(secretPath('openai-compatible', BASE_URL), `${home.origin}/v1`);
  await set(tokenPath('openai-compatible'), model);
  await set(secretPath('github', MCP_URL), `${home.origin}/mcp`);
  await set(tokenPath('github'), github);
  const USES = [
    [() => integrationCredential(customerId, 'gitlab'), { token: gitlab, origins: [home.origin] }],
    [() => modelCredentials(customerId), { 'openai-compatible': { baseUrl: `${home.origin}/v1`, apiKey: model } }],
    [() => mcpServersOf(customerId), [{ name: 'github', url: `${home.origin}/mcp`, bearer: github }]],
  ] as const;
  for (const [use, found] of USES) {
    reads = 0;
    expect(await use()).toMatchObject(found);
    expect(reads).toBe(1);
  }
});

// Guards: a new slot for an address is one that keeps tokens where they are, and each integration says where its token goes.
test('every address of the catalogue is known', () => {
  const formats = ['address', 'host', 'port'];
  const keys = [...integrations.values()].flatMap(({ slots }) =>
    slots.flatMap(({ key, format }) => (format && formats.includes(format) ? [key] : [])),
  );
  expect(new Set(keys)).toEqual(new Set(ADDRESS_SECRETS));
  expect(new Set(ADDRESSES.map(({ key }) => key))).toEqual(new Set([BASE_URL, MCP_URL]));
  const without = [...integrations.values()].filter(
    ({ slug, baseUrl }) => !baseUrl && tokenKindOf({ ...present(integrations.get(slug)) }),
  );
  const SAID_WITH_THE_SECRET = ['amazon-bedrock', 'azure-openai', 'openai-compatible', 'smtp'];
  expect(without.map(({ slug }) => slug)).toEqual(SAID_WITH_THE_SECRET);
});
