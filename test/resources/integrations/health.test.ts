/** What providers are asked about a credential, and what their answers mean. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createSecretBox } from '../../../src/platform/core/crypto.ts';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { first, present } from '../../../src/platform/core/present.ts';
import { createEgress, type Egress } from '../../../src/platform/egress/egress.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { createBaseAddresses } from '../../../src/resources/integrations/addresses.ts';
import { integrations, tokenKindOf } from '../../../src/resources/integrations/catalogue.ts';
import { createHealthChecks } from '../../../src/resources/integrations/health.ts';
import {
  createIntegrationStore,
  secretOwner,
  tokenOwner,
  type IntegrationStore,
} from '../../../src/resources/integrations/store.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startProviderServer, type ProviderAnswer, type ProviderServer } from '../../support/fakes/provider-server.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer, type MailServer } from '../../support/fakes/smtp-server.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';
import { ANSWER_LIMITS, ANSWER_SETTINGS } from '../../support/service/answer-limits.ts';

const secretBox = createSecretBox('key-of-the-health-tests');
const never = new AbortController().signal;
const CANARY = 'tok-canary:7f';

let database: TestDatabase;
let store: IntegrationStore;
let provider: ProviderServer;
let mail: MailServer;
let egress: Egress;
let acme: Caller;
let logged = '';

beforeAll(async () => {
  [database, provider, mail] = await Promise.all([
    openTestDatabase(),
    startProviderServer(),
    startMailServer({ hideSTARTTLS: true, allowInsecureAuth: true }),
  ]);
  egress = createEgress({ allowlist: [], allowHttp: true, limits: ANSWER_LIMITS });
  store = createIntegrationStore(database.db);
  acme = await makeWorkspace(database.db, 'acc_acme');
});
afterAll(async () => {
  await egress?.close();
  await Promise.all([provider?.close(), mail?.close(), database?.close()]);
});
beforeEach(async () => {
  await database.db.rows(sql`truncate integration_credentials, integration_secrets`);
  provider.requests.length = 0;
  provider.answer(() => ({ status: 200 }));
  logged = '';
});

const log = createLog({ level: 'trace', pretty: false, destination: { write: (line) => void (logged += line) } });

const checks = (operators = [...integrations.values()].filter(({ baseUrl }) => baseUrl).map(({ slug }) => slug)) =>
  createHealthChecks({
    store,
    secretBox,
    egress,
    log,
    addresses: createBaseAddresses({
      INTEGRATION_BASE_URLS: Object.fromEntries(operators.map((slug) => [slug, `${provider.url}/`])),
    } as Parameters<typeof createBaseAddresses>[0]),
    settings: {
      ...ANSWER_SETTINGS,
      RESPONSE_TIMEOUT: 2_000,
      EGRESS_ALLOWLIST: [`127.0.0.1:${mail.port}`],
      INTEGRATION_HEALTH_INTERVAL: 3_600_000,
    },
  });

async function give(
  slug: string,
  token = CANARY,
  secrets: Record<string, string> = {},
  { customerId } = acme,
): Promise<string> {
  const key = { customerId, slug, kind: present(tokenKindOf(present(integrations.get(slug)))), scope: 'shared' };
  for (const [dotted, value] of Object.entries(secrets)) {
    const secret = { customerId, slug, dotted };
    await store.putSecret({ ...secret, sealed: secretBox.seal(value, secretOwner(secret)) });
  }
  const tokenId = newUuid();
  await store.putToken({ ...key, tokenId, sealed: secretBox.seal(token, tokenOwner(key)) });
  return tokenId;
}
const health = async () => (await store.listGiven(acme.customerId)).tokens.map((token) => token.health);

/** Gives a token, has it checked and tells what came of it. */
async function verdict(slug: string, answer: ProviderAnswer, secrets?: Record<string, string>, token?: string) {
  provider.answer(() => answer);
  await give(slug, token, secrets);
  await checks().checkCredentials({}, never);
  return (await health())[0];
}

describe('the request', () => {
  const bearer = { authorization: `Bearer ${CANARY}` };

  // Guards: each provider is asked at its own address in the way of its own documentation.
  test.each([
    ['openai', 'GET /models', bearer],
    ['anthropic', 'GET /models', { 'x-api-key': CANARY, 'anthropic-version': '2023-06-01' }],
    ['google', 'GET /models', { 'x-goog-api-key': CANARY }],
    ['google-vertex', 'POST /models/gemini-3.5-flash:generateContent', { 'x-goog-api-key': CANARY }],
    ['mistral', 'GET /models', bearer],
    ['openrouter', 'GET /key', bearer],
    ['github', 'GET /user', bearer],
    ['gitlab', 'GET /user', bearer],
    ['slack', 'POST /auth.test', bearer],
    ['discord', 'GET /users/@me', { authorization: `Bot ${CANARY}` }],
    ['telegram', `GET /bot${CANARY}/getMe`, {}],
    ['whatsapp', 'GET /me?fields=id', bearer],
    ['notion', 'GET /users/me', { ...bearer, 'notion-version': '2022-06-28' }],
    ['linear', 'POST /graphql', { ...bearer, 'content-type': 'application/json' }],
    ['google-drive', 'GET /about?fields=kind', bearer],
    ['hubspot', 'GET /account-info/v3/details', bearer],
    ['stripe', 'GET /balance', bearer],
  ])('of %s', async (slug, line, headers) => {
    expect(await verdict(slug, { status: 200, body: { ok: true } })).toBe('ok');
    expect(provider.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([line]);
    expect(first(provider.requests).headers).toMatchObject({ ...headers, 'user-agent': 'agent-orchestration-service' });
    expect(logged).not.toContain(CANARY);
  });

  // Guards: the two providers without a published address are covered below, so that none is forgotten.
  test('of the others goes to a server of the workspace', () => {
    const others = [...integrations.values()].filter(({ baseUrl }) => !baseUrl).map(({ slug }) => slug);
    expect(others).toEqual(['amazon-bedrock', 'azure-openai', 'openai-compatible', 'smtp']);
  });
});

describe('the answer', () => {
  // Guards: each status has its meaning for all providers; one that says nothing changes nothing.
  test.each<[string, ProviderAnswer, string]>([
    ['well', { status: 200 }, 'ok'],
    ['no', { status: 401 }, 'invalid'],
    ['not you', { status: 403 }, 'invalid'],
    ['not any more', { status: 401, body: { message: 'The token has expired.' } }, 'expired'],
    ['one or the other', { status: 401, body: { message: 'Invalid or expired token' } }, 'invalid'],
    ['the other or one', { status: 401, body: { message: 'The token is expired or invalid' } }, 'invalid'],
    ['too often', { status: 429 }, 'rate_limited'],
    ['broken', { status: 500 }, 'unchecked'],
    ['elsewhere', { status: 302, headers: { location: '/elsewhere' } }, 'unchecked'],
    ['nothing', 'reset', 'unchecked'],
  ])('%s', async (_words, answer, status) => {
    expect(await verdict('openai', answer)).toBe(status);
    // A redirect is not followed: the token is for this address.
    expect(provider.requests).toHaveLength(1);
  });

  // Guards: providers that report a bad key in their own words are understood.
  test.each<[string, ProviderAnswer, string]>([
    ['google', { status: 400, body: { error: { details: [{ reason: 'API_KEY_INVALID' }] } } }, 'invalid'],
    ['google', { status: 400, body: { error: { message: 'API key expired. Please renew the API key.' } } }, 'expired'],
    ['google', { status: 400, body: { error: { message: 'something else' } } }, 'unchecked'],
    ['google-vertex', { status: 400, body: { error: { message: 'contents is not specified' } } }, 'ok'],
    ['google-vertex', { status: 400, body: { error: { details: [{ reason: 'API_KEY_INVALID' }] } } }, 'invalid'],
    ['github', { status: 403, headers: { 'x-ratelimit-remaining': '0' } }, 'rate_limited'],
    ['github', { status: 403, headers: { 'x-ratelimit-remaining': '12' } }, 'invalid'],
    ['gitlab', { status: 401, body: { error: 'invalid_token', error_description: 'Token is expired.' } }, 'expired'],
    ['slack', { status: 200, body: { ok: true } }, 'ok'],
    ['slack', { status: 200, body: { ok: false, error: 'invalid_auth' } }, 'invalid'],
    ['slack', { status: 200, body: { ok: false, error: 'token_expired' } }, 'expired'],
    ['slack', { status: 200, body: { ok: false, error: 'ratelimited' } }, 'rate_limited'],
    ['slack', { status: 200, body: { ok: false, error: 'fatal_error' } }, 'unchecked'],
    ['telegram', { status: 404, body: { ok: false, error_code: 404 } }, 'invalid'],
    ['whatsapp', { status: 400, body: { error: { code: 190, message: 'Malformed access token' } } }, 'invalid'],
    ['whatsapp', { status: 400, body: { error: { code: 190, message: 'Session has expired on Friday' } } }, 'expired'],
    ['linear', { status: 400, body: { errors: [{ extensions: { code: 'AUTHENTICATION_ERROR' } }] } }, 'invalid'],
    ['linear', { status: 400, body: { errors: [{ extensions: { code: 'RATELIMITED' } }] } }, 'rate_limited'],
    [
      'google-drive',
      { status: 403, body: { error: { errors: [{ reason: 'userRateLimitExceeded' }] } } },
      'rate_limited',
    ],
    ['hubspot', { status: 401, body: { category: 'EXPIRED_AUTHENTICATION' } }, 'expired'],
    ['stripe', { status: 401, body: { error: { code: 'api_key_expired' } } }, 'expired'],
  ])('of %s to %j is %s', async (slug, answer, status) => {
    expect(await verdict(slug, answer)).toBe(status);
  });

  // Guards: the known state is kept while a provider is down, and asked again soon.
  test('that does not come leaves what was known', async () => {
    expect(await verdict('openai', { status: 401 })).toBe('invalid');
    await database.db.rows(sql`update integration_credentials set check_at = now()`);
    provider.answer(() => 'reset');
    await checks().checkCredentials({}, never);
    expect(await health()).toEqual(['invalid']);
    expect(logged).toContain('a credential could not be checked');
    const [row] = await database.db.rows<{ soon: boolean }>(
      sql`select check_at between now() + interval '4 minutes' and now() + interval '6 minutes' as soon from integration_credentials`,
    );
    expect(row).toEqual({ soon: true });
  });

  // Guards: a value that no header can carry is reported as invalid without asking, and without an error.
  test('to what is no token is not needed', async () => {
    expect(await verdict('openai', { status: 200 }, {}, 'smörgås')).toBe('invalid');
    expect(provider.requests).toEqual([]);
  });
});

describe('a server of the workspace', () => {
  // Guards: a workspace cannot have the service call addresses inside its network, also not to check a key.
  test('is asked through the guard', async () => {
    const inside = { 'server.base_url': provider.url };
    expect(await verdict('openai-compatible', { status: 200 }, inside)).toBe('unchecked');
    expect(await verdict('gitlab', { status: 200 }, inside)).toBe('unchecked');
    expect(provider.requests).toEqual([]);
    expect(logged).toContain('ForbiddenAddressError');
  });

  // Guards: an address that nobody set counts as unset and not as a failure.
  test('that is not named is not asked', async () => {
    expect(await verdict('openai-compatible', { status: 200 })).toBe('unchecked');
    expect(await verdict('smtp', { status: 200 })).toBe('unchecked');
  });

  const server = () => ({ 'server.host': '127.0.0.1', 'server.port': String(mail.port), 'server.user': MAIL_USER });

  // Guards: a mail server is asked with a real login.
  test.each([
    [MAIL_PASSWORD, 'ok'],
    [CANARY, 'invalid'],
  ])('for mail, with %s: %s', async (password, status) => {
    expect(await verdict('smtp', { status: 200 }, server(), password)).toBe(status);
    expect(logged).not.toContain(password);
  });

  // Guards: internal addresses are refused also for checks that are not HTTP, by address and by name.
  test.each(['127.0.0.1', 'localhost', '2130706433', '::1', '169.254.169.254'])(
    'for mail is not at %s',
    async (host) => {
      const secrets = { ...server(), 'server.host': host, 'server.port': '25' };
      expect(await verdict('smtp', { status: 200 }, secrets, MAIL_PASSWORD)).toBe('unchecked');
      expect(logged).toContain('ForbiddenAddressError');
    },
  );
});

describe('the schedule', () => {
  // Guards: every due credential is checked once, and a freshly checked one is not checked again.
  test('takes what is due', async () => {
    for (const slug of ['openai', 'github', 'notion', 'stripe', 'mistral']) await give(slug);
    await Promise.all([checks().checkCredentials({}, never), checks().checkCredentials({}, never)]);
    await checks().checkCredentials({}, never);
    expect(provider.requests).toHaveLength(5);
    expect(new Set(await health())).toEqual(new Set(['ok']));
  });

  // Guards: a credential that was just set is checked alone.
  test('is not needed for a new one', async () => {
    await give('openai');
    const tokenId = await give('github');
    await checks().checkCredentials({ tokenId }, never);
    expect(provider.requests.map(({ path }) => path)).toEqual(['/user']);
    await checks().checkCredentials({ tokenId: newUuid() }, never);
    expect(provider.requests).toHaveLength(1);
  });

  // Guards: the result for an old value is not recorded for the new one.
  test('does not take an old answer for a new value', async () => {
    await give('openai', 'old');
    provider.answer(async () => {
      await give('openai', 'new');
      return { status: 401 };
    });
    await checks().checkCredentials({}, never);
    expect(await health()).toEqual(['unchecked']);
  });

  // Guards: a credential whose other settings changed during the check is checked anew.
  test('does not take the answer of another server', async () => {
    await give('openai');
    provider.answer(async () => {
      await store.recheck(acme.customerId, 'openai');
      return { status: 401 };
    });
    await checks().checkCredentials({}, never);
    expect(await health()).toEqual(['unchecked']);
    provider.answer(() => ({ status: 200 }));
    await checks().checkCredentials({}, never);
    expect(await health()).toEqual(['ok']);
  });

  // Guards: the many tokens of one workspace, which may be at a slow provider, do not hold up those of another.
  test('takes each workspace in its turn', async () => {
    const beta = await makeWorkspace(database.db, 'acc_beta');
    for (const slug of [...integrations.keys()].slice(0, 12)) await give(slug);
    await give('openai', CANARY, {}, beta);
    const due = await store.claimDue({ limit: 10, againMs: 60_000 });
    expect(due).toHaveLength(10);
    expect(due.map(({ customerId }) => customerId)).toContain(beta.customerId);
  });

  // Guards: a credential that cannot be opened does not keep the others from being checked.
  test('goes on past one that is broken', async () => {
    const { customerId } = acme;
    const foreign = createSecretBox('another-key-of-the-health-tests');
    const key = { customerId, slug: 'stripe', kind: 'secret_key', scope: 'shared' };
    await store.putToken({ ...key, tokenId: newUuid(), sealed: foreign.seal('x', tokenOwner(key)) });
    await give('openai');
    await checks().checkCredentials({}, never);
    expect((await health()).sort()).toEqual(['ok', 'unchecked']);
  });
});

// Guards: a setting with an unknown integration stops the service instead of doing nothing.
test('addresses are of integrations that there are', () => {
  const wrong = (slug: string) => () =>
    createBaseAddresses({ INTEGRATION_BASE_URLS: { [slug]: provider.url } } as never);
  expect(wrong('githup')).toThrow('INTEGRATION_BASE_URLS: there is no integration githup');
  expect(wrong('smtp')).toThrow('INTEGRATION_BASE_URLS');
});
