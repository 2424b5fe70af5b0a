/** Integrations over HTTP: what is shown, what may be set, and that nothing happens without a code. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { integrations } from '../../../src/resources/integrations/catalogue.ts';
import { confirmed, demandIn, otpHeaders } from '../../support/service/otp.ts';
import { startProviderServer, type ProviderServer } from '../../support/fakes/provider-server.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let provider: ProviderServer;
let acme: Tenant;
let bora: Tenant;

beforeAll(async () => {
  provider = await startProviderServer();
  const slugs = [...integrations.values()].filter(({ baseUrl }) => baseUrl).map(({ slug }) => slug);
  service = await startTestService({
    env: { INTEGRATION_BASE_URLS: slugs.map((slug) => `${slug}=${provider.url}/${slug}`).join(',') },
  });
  acme = await service.tenant('acc_acme');
  bora = await service.tenant('acc_bora');
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const get = async (tenant: Tenant, slug: string) => (await tenant.cp('GET', `/v1/integrations/${slug}`)).body;
const put = (tenant: Tenant, path: string, body: unknown) => confirmed(tenant, 'PUT', `/v1/integrations/${path}`, body);
const remove = (tenant: Tenant, path: string) => confirmed(tenant, 'DELETE', `/v1/integrations/${path}`);
const untilHealth = (tenant: Tenant, slug: string, status: string) =>
  eventually(async () => expect((await get(tenant, slug)).status).toBe(status));

describe('the catalogue', () => {
  // Guards: GET /v1/integrations: the 18 of the specification, each unconfigured at first.
  test('has all of them', async () => {
    const { status, body } = await bora.cp('GET', '/v1/integrations');
    expect(status).toBe(200);
    expect(body.meta).toEqual({ total: 21 });
    expect(body.data.map(({ slug }: { slug: string }) => slug)).toEqual(
      (
        'openai anthropic google google-vertex amazon-bedrock azure-openai mistral openrouter openai-compatible github ' +
        'gitlab slack discord telegram whatsapp notion linear google-drive hubspot stripe smtp'
      ).split(' '),
    );
    expect(new Set(body.data.map(({ status }: { status: string }) => status))).toEqual(new Set(['unconfigured']));
    expect(body.data.find(({ slug }: { slug: string }) => slug === 'github')).toEqual({
      slug: 'github',
      name: 'GitHub',
      category: 'code',
      description: 'Repositories, issues and pull requests.',
      is_configured: false,
      status: 'unconfigured',
      credentials_required: 1,
      credentials_set: 0,
      credentials_total: 2,
      config_count: 1,
      extras: ['mcp'],
    });
  });

  // Guards: GET /v1/integrations/{slug}: every kind of slot with what belongs to it, and no address of the operator's.
  test('tells the slots of one', async () => {
    const body = await get(bora, 'google-drive');
    expect(body.credentials).toEqual([
      {
        where: 'oauth_files',
        kind: 'accounts',
        label: expect.any(String),
        required: false,
        is_set: false,
        account_count: 0,
      },
      {
        where: 'customer_token',
        kind: 'access_token',
        label: expect.any(String),
        required: false,
        is_set: false,
        health_status: null,
        token_id: null,
      },
    ]);
    expect(body).toMatchObject({ config: [{ key: 'base_url', value: null, source: 'operator' }], tokens: [] });
    expect((await get(bora, 'smtp')).credentials[0]).toEqual({
      where: 'secrets',
      dotted: 'server.host',
      label: 'Host name',
      required: true,
      is_set: false,
    });
  });

  // Guards: names that are not in the catalogue are unknown, whatever they mean to JavaScript.
  test.each(['nothing', '__proto__', 'constructor', 'GitHub', '%2e%2e', 'a'.repeat(300)])(
    '%s is unknown',
    async (slug) => {
      const { status, body } = await acme.cp('GET', `/v1/integrations/${slug}`);
      expect({ status, body }).toEqual({ status: 404, body: { detail: 'not_found' } });
    },
  );
});

describe('a token', () => {
  // Guards: PUT /v1/integrations/{slug}/credentials/{kind}: from the demand for a code to the answer of the provider.
  test('is set with a code and then checked', async () => {
    provider.answer(() => ({ status: 200 }));
    const path = '/v1/integrations/github/credentials/token';
    const demand = await acme.cp('PUT', path, { value: 'ghp_first' });
    expect(demandIn(demand).scope).toBe('integration.set:github:token:shared');
    expect((await get(acme, 'github')).is_configured).toBe(false);

    const { challenge_id } = demandIn(demand);
    const { status, body } = await acme.cp('PUT', path, { value: 'ghp_first' }, otpHeaders(challenge_id));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        slug: 'github',
        kind: 'token',
        scope: 'shared',
        is_set: true,
        health_status: 'unchecked',
        token_id: expect.any(String),
      },
    });
    await untilHealth(acme, 'github', 'ok');
    const detail = await get(acme, 'github');
    expect(detail).toMatchObject({ is_configured: true, credentials_set: 1 });
    expect(detail.credentials[0]).toMatchObject({ is_set: true, health_status: 'ok', token_id: body.token_id });
    expect(detail.tokens).toEqual([
      {
        token_id: body.token_id,
        kind: 'token',
        scope: 'shared',
        health_status: 'ok',
        checked_at: expect.any(String),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    expect(provider.requests.at(-1)).toMatchObject({
      path: '/github/user',
      headers: { authorization: 'Bearer ghp_first' },
    });
    // The code was for one write.
    expect((await acme.cp('PUT', path, { value: 'ghp_first' }, otpHeaders(challenge_id))).status).toBe(403);
    expect((await acme.cp('PUT', path, { value: 'ghp_other' }, otpHeaders(challenge_id))).status).toBe(403);
  });

  // Guards: a new value replaces the old token; nothing is known of it yet, and the old one is no longer checked.
  test('is replaced', async () => {
    provider.answer(({ headers }) => ({ status: headers.authorization === 'Bearer new' ? 401 : 200 }));
    const first = await put(acme, 'notion/credentials/token', { value: 'old' });
    await untilHealth(acme, 'notion', 'ok');
    const second = await put(acme, 'notion/credentials/token', { value: '  new\n' });
    expect(second.body.token_id).not.toBe(first.body.token_id);
    await untilHealth(acme, 'notion', 'invalid');
    expect((await get(acme, 'notion')).tokens).toHaveLength(1);
  });

  // Guards: the status of an integration is the worst of its scopes, and each scope can be deleted alone.
  test('has a scope', async () => {
    provider.answer(({ headers }) => ({ status: headers.authorization === 'Bearer bad' ? 403 : 200 }));
    await put(acme, 'stripe/credentials/secret_key', { value: 'good' });
    await put(acme, 'stripe/credentials/secret_key', { value: 'bad', scope: 'billing' });
    await untilHealth(acme, 'stripe', 'invalid');
    const { body } = await acme.cp('DELETE', '/v1/integrations/stripe/credentials/secret_key?scope=billing');
    expect(body.detail.scope).toBe('integration.delete:stripe:secret_key:billing');
    expect((await remove(acme, 'stripe/credentials/secret_key?scope=billing')).status).toBe(204);
    await untilHealth(acme, 'stripe', 'ok');
    expect((await get(acme, 'stripe')).tokens.map(({ scope }: { scope: string }) => scope)).toEqual(['shared']);
  });

  // Guards: DELETE /v1/integrations/{slug}/credentials/{kind}; an absent credential is unknown before any code is asked
  // for.
  test('is deleted', async () => {
    await put(acme, 'discord/credentials/bot_token', { value: 'bot' });
    expect((await remove(acme, 'discord/credentials/bot_token')).status).toBe(204);
    expect(await get(acme, 'discord')).toMatchObject({ status: 'unconfigured', tokens: [] });
    const { status, body } = await acme.cp('DELETE', '/v1/integrations/discord/credentials/bot_token');
    expect({ status, body }).toEqual({ status: 404, body: { detail: 'not_found' } });
  });
});

describe('a secret', () => {
  // Guards: PUT and DELETE /v1/integrations/{slug}/secrets/{dotted}, with the scopes of the gate.
  test('is set and deleted', async () => {
    const path = '/v1/integrations/stripe/secrets/webhook.secret';
    expect(demandIn(await acme.cp('PUT', path, { value: 'whsec' })).scope).toBe(
      'integration.secret.set:stripe:webhook.secret',
    );
    const { status, body } = await put(acme, 'stripe/secrets/webhook.secret', { value: 'whsec' });
    expect({ status, body }).toEqual({ status: 200, body: { slug: 'stripe', dotted: 'webhook.secret', is_set: true } });
    const isSet = async () =>
      (await get(acme, 'stripe')).credentials.find(({ dotted }: { dotted?: string }) => dotted === 'webhook.secret')
        .is_set;
    expect(await isSet()).toBe(true);
    expect(demandIn(await acme.cp('DELETE', path)).scope).toBe('integration.secret.delete:stripe:webhook.secret');
    expect((await remove(acme, 'stripe/secrets/webhook.secret')).status).toBe(204);
    expect(await isSet()).toBe(false);
    expect((await acme.cp('DELETE', path)).status).toBe(404);
  });

  // Guards: a secret that is an address cannot name one inside the deployment's network.
  test.each([
    'http://127.0.0.1:9/v1',
    'http://[::ffff:127.0.0.1]/v1',
    'https://metadata.internal',
    'nothing',
    'file:///etc',
  ])('that is an address is not %s', async (value) => {
    const { status, body } = await acme.cp('PUT', '/v1/integrations/openai-compatible/secrets/server.base_url', {
      value,
    });
    expect(status).toBe(400);
    expect(body.detail).toMatch(/^value: /);
  });
});

describe('what cannot be done', () => {
  const TOKEN = '/v1/integrations/github/credentials/token';
  const SECRET = '/v1/integrations/smtp/secrets/server.port';

  // Guards: bad input is 400, never 422, and is told before a code is asked for.
  test.each([
    ['no body', TOKEN, undefined, 'value required'],
    ['no value', TOKEN, {}, 'value required'],
    ['an empty value', TOKEN, { value: '' }, 'value required'],
    ['a blank value', TOKEN, { value: ' \n ' }, 'value required'],
    ['a number', TOKEN, { value: 12 }, 'value required'],
    ['a list', TOKEN, ['x'], expect.any(String)],
    ['a text', TOKEN, 'x', expect.any(String)],
    ['a line break', TOKEN, { value: 'a\r\nx-y: z' }, 'value must not contain control characters'],
    ['a NUL', TOKEN, { value: 'a\u0000' }, expect.stringContaining('NUL')],
    ['half a character', TOKEN, { value: '\ud800' }, expect.stringContaining('Unicode')],
    ['too much', TOKEN, { value: 'x'.repeat(20_000) }, 'value too long (max 16384)'],
    ['a scope that is none', TOKEN, { value: 'x', scope: 'a b' }, expect.stringContaining('scope')],
    ['a scope that is no text', TOKEN, { value: 'x', scope: 1 }, expect.stringContaining('scope')],
    ['a workspace that is no text', TOKEN, { value: 'x', customer_id: {} }, expect.stringContaining('customer_id')],
    ['a secret without a value', SECRET, {}, 'value required'],
    ['a port that is none', SECRET, { value: '0' }, 'value: must be a port from 1 to 65535'],
    [
      'a host that is none',
      '/v1/integrations/smtp/secrets/server.host',
      { value: 'a/b' },
      'value: must be a host name',
    ],
    [
      'accounts',
      '/v1/integrations/google-drive/credentials/accounts',
      { value: 'x' },
      expect.stringContaining('accounts'),
    ],
  ])('%s is 400', async (_name, path, body, detail) => {
    const answer = await acme.cp('PUT', path, body);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 400, body: { detail } });
  });

  // Guards: only slots of the catalogue are there, each in its own place.
  test.each([
    '/v1/integrations/nothing/credentials/token',
    '/v1/integrations/github/credentials/nothing',
    '/v1/integrations/github/credentials/mcp.url',
    '/v1/integrations/github/credentials/__proto__',
    '/v1/integrations/github/secrets/token',
    '/v1/integrations/github/secrets/nothing.at_all',
    '/v1/integrations/google-drive/secrets/accounts',
  ])('%s is 404', async (path) => {
    for (const method of ['PUT', 'DELETE']) {
      const { status, body } = await acme.cp(method, path, method === 'PUT' ? { value: 'x' } : undefined);
      expect({ status, body }).toEqual({ status: 404, body: { detail: 'not_found' } });
    }
  });

  // Guards: of two writes with one code one succeeds, however close they come.
  test('one code for two writes', async () => {
    const path = '/v1/integrations/linear/credentials/api_key';
    const { challenge_id } = demandIn(await acme.cp('PUT', path, { value: 'lin' }));
    const answers = await Promise.all(
      [1, 2, 3].map(() => acme.cp('PUT', path, { value: 'lin' }, otpHeaders(challenge_id))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
  });
});

describe('workspaces', () => {
  // Guards: what one workspace gives is neither shown to another nor within its reach, whatever it names.
  test('are apart', async () => {
    await put(acme, 'hubspot/credentials/access_token', { value: 'of-acme' });
    const before = await get(acme, 'hubspot');
    expect(await get(bora, 'hubspot')).toMatchObject({ status: 'unconfigured', tokens: [] });
    const path = 'hubspot/credentials/access_token';
    expect((await remove(bora, `${path}?customer_id=acme`)).status).toBe(404);
    const { status } = await put(bora, path, { value: 'of-bora', customer_id: 'acme' });
    expect(status).toBe(200);
    expect((await get(acme, 'hubspot')).tokens[0].token_id).toBe(before.tokens[0].token_id);
    expect((await get(bora, 'hubspot')).is_configured).toBe(true);
  });

  // Guards: the same of secrets slots.
  test('keep their secrets apart', async () => {
    const path = 'slack/secrets/mcp.url';
    const slotOf = async (tenant: Tenant) =>
      (await get(tenant, 'slack')).credentials.find(({ dotted }: { dotted?: string }) => dotted === 'mcp.url');
    expect((await put(acme, path, { value: 'https://mcp.example.com/acme' })).status).toBe(200);
    expect(await slotOf(bora)).toMatchObject({ is_set: false });
    expect((await remove(bora, path)).status).toBe(404);
    expect((await put(bora, path, { value: 'https://mcp.example.com/bora' })).status).toBe(200);
    expect((await remove(bora, path)).status).toBe(204);
    expect(await slotOf(acme)).toMatchObject({ is_set: true });
  });

  // Guards: the internal workspace may act for others; an unknown workspace is refused.
  test('are named by the internal one', async () => {
    const internal = await service.tenant('acc_internal', 'internal');
    const path = 'gitlab/credentials/token';
    expect((await put(internal, path, { value: 'x', customer_id: 'nobody' })).status).toBe(404);
    expect((await put(internal, path, { value: 'x', customer_id: 'bora' })).status).toBe(200);
    expect(await get(internal, 'gitlab')).toMatchObject({ is_configured: false });
    expect(await get(bora, 'gitlab')).toMatchObject({ is_configured: true });
    expect((await remove(internal, `${path}?customer_id=bora`)).status).toBe(204);
    expect(await get(bora, 'gitlab')).toMatchObject({ is_configured: false });
    expect((await put(internal, path, { value: 'x' })).status).toBe(200);
    expect(await get(internal, 'gitlab')).toMatchObject({ is_configured: true });
  });
});
