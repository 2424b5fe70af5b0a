/**
 * What a workspace gives to integrations and tools stays where it belongs. Every slot there is holds a text that is
 * nowhere else; third parties answer with whatever they were sent; afterwards none of it is in Temporal's histories, the
 * log, the database or a reply.
 */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createLog } from '../../src/platform/core/log.ts';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { integrations } from '../../src/resources/integrations/catalogue.ts';
import { BASE_URL } from '../../src/resources/integrations/provider.ts';
import { dumpTables } from '../support/database/dump-tables.ts';
import { readHistories } from '../support/temporal/histories.ts';
import { codeOf, demandIn, mailbox, otpHeaders } from '../support/service/otp.ts';
import { startProviderServer, type ProviderAnswer, type ProviderServer } from '../support/fakes/provider-server.ts';
import {
  eventually,
  startTestService,
  type Answer,
  type FinishedRun,
  type Tenant,
  type TestService,
} from '../support/service/service.ts';
import { startMailServer, type MailServer } from '../support/fakes/smtp-server.ts';

let service: TestService;
let provider: ProviderServer;
let mail: MailServer;
let run: FinishedRun;
let toolRun: FinishedRun;
const secrets: Record<string, string> = {};
const codes: string[] = [];
const places: Record<string, string> = {};

/** One that is nowhere else; it is noted under this name. */
function canary(name: string): string {
  const value = `canary-${Object.keys(secrets).length}-of-${Math.random().toString(36).slice(2)}`;
  secrets[name] = value;
  return value;
}

beforeAll(async () => {
  let log = '';
  const printed = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
    jest.spyOn(console, name).mockImplementation(() => {}),
  );
  [provider, mail] = await Promise.all([
    startProviderServer(),
    startMailServer({ hideSTARTTLS: true, allowInsecureAuth: true }),
  ]);
  provider.answer(giveAway);
  const slugs = [...integrations.values()].filter(({ baseUrl }) => baseUrl).map(({ slug }) => slug);
  const destination = {
    write(line: string) {
      mailbox.write(line);
      // In the log because there is no mail server here; that is what it is for.
      if (!line.includes('"event":"mail"')) log += line;
    },
  };
  service = await startTestService({
    log: createLog({ level: 'trace', pretty: false, destination }),
    env: {
      INTEGRATION_BASE_URLS: slugs.map((slug) => `${slug}=${provider.url}/${slug}`).join(','),
      EGRESS_ALLOWLIST: `${provider.hostAndPort},127.0.0.1:${mail.port}`,
    },
  });
  const tenant = await service.tenant('acc_acme');
  const replies = await carryOut(tenant);
  places['the log'] = log;
  places['the console'] = printed
    .flatMap(({ mock }) => mock.calls.map((line) => line.map(String).join(' ')))
    .join('\n');
  places['replies'] = replies.join('\n');
  places['the database'] = (await dumpTables(service.runtime.db)).join('\n');
  const { TASK_QUEUE_PREFIX } = service.runtime.config;
  places['histories'] = await eventually(async () => {
    const histories = await readHistories(service.runtime.temporal, TASK_QUEUE_PREFIX);
    if (![run, toolRun].every(({ run_id }) => histories.has(`run-${run_id}`)))
      throw new Error('not all are listed yet');
    return [...histories].join('\n');
  });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([provider?.close(), mail?.close()]);
  jest.restoreAllMocks();
});

/** Every way to answer badly, with everything that was sent in the words. */
function giveAway({ path, headers, body }: { path: string; headers: object; body: string }): ProviderAnswer {
  const said = { error: { message: `${path} ${JSON.stringify(headers)} ${body}` } };
  const slug = itemAt(path.split('/'), 1);
  if (slug === 'discord') return 'reset';
  if (slug === 'notion')
    return { status: 302, headers: { location: `/elsewhere?${encodeURIComponent(said.error.message)}` } };
  const status =
    { openai: 500, github: 403, stripe: 429, telegram: 404, hook: 500, 'openai-compatible': 400 }[slug] ?? 401;
  return { status, body: said };
}

/** Fills, replaces and deletes what there is, and uses it. Gives all replies. */
async function carryOut(tenant: Tenant): Promise<string[]> {
  const replies: string[] = [];
  const keep = (answer: Answer): Answer => {
    replies.push(JSON.stringify({ ...answer, headers: [...answer.headers] }));
    return answer;
  };
  const confirmed = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const { challenge_id: id } = demandIn(keep(await tenant.cp(method, path, body)));
    codes.push(codeOf(id));
    keep(await tenant.cp(method, path, body, otpHeaders(id, '000000')));
    return keep(await tenant.cp(method, path, body, otpHeaders(id)));
  };
  const valueOf = (slug: string, key: string, format: string | undefined): string => {
    if (format === 'host') return '127.0.0.1';
    if (format === 'port') return String(mail.port);
    // A price is shown to whoever asks what a call costs.
    if (format === 'price') return '0.15,0.60';
    const value = canary(`${slug} ${key}`);
    return format === 'address' ? `${provider.url}/${slug}/${value}` : value;
  };

  for (const { slug, slots } of integrations.values()) {
    // A token stays with the addresses that it was given for, so those come first.
    for (const { where, key, format } of slots.toSorted((a, b) => Number(!a.format) - Number(!b.format))) {
      if (where === 'oauth_files') continue;
      const path = `/v1/integrations/${slug}/${where === 'secrets' ? 'secrets' : 'credentials'}/${key}`;
      // A server of its own would be asked in the place of the provider.
      const value = slug === 'gitlab' && key === BASE_URL ? undefined : valueOf(slug, key, format);
      if (value !== undefined) expect((await confirmed('PUT', path, { value })).status).toBe(200);
      // What is refused is not repeated either.
      keep(await tenant.cp('PUT', path, { value: `${canary(`refused ${slug} ${key}`)}\u0007`, scope: 'x' }));
      keep(await tenant.cp('PUT', `${path}.none`, { value: canary(`unknown ${slug} ${key}`) }));
    }
  }
  const replaced = '/v1/integrations/github/credentials/token';
  await confirmed('PUT', replaced, { value: canary('another scope'), scope: 'other' });
  await confirmed('PUT', replaced, { value: canary('a new value') });
  await confirmed('PUT', '/v1/integrations/linear/credentials/api_key', { value: canary('deleted') });
  await confirmed('DELETE', '/v1/integrations/linear/credentials/api_key');
  await eventually(() => {
    const asked = new Set(provider.requests.map(({ path }) => path.split('/')[1]));
    for (const { slug, baseUrl } of integrations.values())
      if (baseUrl && !asked.has(slug)) throw new Error(`not asked: ${slug}`);
  });

  keep(
    await tenant.cp('POST', '/v1/tools', {
      slug: 'hook',
      description: 'Calls a hook.',
      kind: 'webhook',
      integration: 'github',
      effect: 'read',
      schema: { type: 'object', properties: {} },
      body: { url: `${provider.url}/hook`, headers: { 'x-secret': canary('a header of a tool') } },
    }),
  );
  keep(
    await tenant.cp('POST', '/v1/agents', {
      slug: 'caller',
      model: 'offline',
      prompt: 'You call.',
      allowed_tool_slugs: ['hook'],
    }),
  );
  toolRun = await tenant.run({ agent: 'caller', prompt: 'Go. [[tool:hook {}]]' });
  run = await tenant.run({ agent: 'assistant', prompt: 'Go.', override: { model_override: 'default' } });
  for (const id of [run.run_id, toolRun.run_id]) {
    for (const path of [`/v1/runs/${id}/events`, `/v1/runs/${id}/detail`, `/v1/runs/${id}/context/content`]) {
      keep(await tenant.cp('GET', path));
    }
    keep(await tenant.api('GET', `/v1/runs/${id}`));
  }
  for (const slug of integrations.keys()) keep(await tenant.cp('GET', `/v1/integrations/${slug}`));
  for (const path of ['/v1/integrations', '/v1/tools', '/v1/tools/hook', '/v1/events'])
    keep(await tenant.cp('GET', path));
  return replies;
}

/** As a search would have to look for it: as it is, in an address, in bytes. */
const spellings = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
];

/** The definition of a tool is for those who write tools. */
const MAY_SHOW: Record<string, string[]> = { replies: ['a header of a tool'] };

describe.each(['histories', 'the log', 'the console', 'the database', 'replies'])('%s', (place) => {
  // Guards: a reader of this place cannot act for the workspace at a third party.
  test('has no secret', () => {
    const found = Object.entries(secrets).filter(([, secret]) =>
      spellings(secret).some((text) => present(places[place]).includes(text)),
    );
    expect(found.map(([name]) => name).filter((name) => !MAY_SHOW[place]?.includes(name))).toEqual([]);
  });

  // Guards: a reader of this place cannot confirm a write.
  test('has no code', () => {
    const found = codes.filter((code) =>
      [`"${code}"`, `Code: ${code}`].some((text) => present(places[place]).includes(text)),
    );
    expect(found).toEqual([]);
  });
});

// Guards: the tests above can fail: secrets existed, third parties received them, and each place holds what it should.
test('the places are not empty', () => {
  expect(Object.keys(secrets).length).toBeGreaterThan(60);
  expect(codes.length).toBeGreaterThan(30);
  const sent = JSON.stringify(provider.requests);
  const kinds = [
    'openai api_key',
    'telegram bot_token',
    'a new value',
    'openai-compatible api_key',
    'a header of a tool',
  ];
  expect(kinds.filter((name) => !sent.includes(present(secrets[name])))).toEqual([]);
  const held: [place: string, text: string][] = [
    ...['histories', 'the log', 'the database', 'replies'].map((place): [string, string] => [place, run.run_id]),
    ['the log', 'a credential was checked'],
    ['the log', 'a credential could not be checked'],
    ['histories', 'integrationHealth'],
    ['replies', 'integration.set:stripe:secret_key:shared'],
    ['the database', 'integration_credentials'],
  ];
  expect(held.filter(([place, text]) => !present(places[place]).includes(text))).toEqual([]);
  expect(run).toMatchObject({ status: 'failed', error: expect.stringMatching(/^model_refused_request/) });
});
