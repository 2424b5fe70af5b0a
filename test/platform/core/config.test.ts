import { expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { misspeltSettings } from '../../../src/platform/core/misspelt-settings.ts';
import { settings } from '../../../src/platform/core/settings.ts';
import { TEST_SECRETS } from '../../support/service/service.ts';

const load = (EXTENSIONS?: string) =>
  loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://unused', EXTENSIONS }).EXTENSIONS;

// Guards: without any setting the interface is the documented one and nothing more.
test('no extension is switched on by itself', () => {
  expect([...load()]).toEqual([]);
  expect([...load('')]).toEqual([]);
});

test('extensions are switched on by name', () => {
  expect([...load(' sse , idempotency,')]).toEqual(['sse', 'idempotency']);
  expect(load('sse').has('idempotency')).toBe(false);
});

// Guards: a misspelt extension stops the start instead of silently being off.
test('an unknown extension is refused with those that there are', () => {
  expect(() => load('sse,idempotence')).toThrow(
    'EXTENSIONS: knows no extension "idempotence"; there are idempotency and sse',
  );
  expect(() => load('SSE')).toThrow('EXTENSIONS: knows no extension "SSE"');
});

const trusted = (TRUST_PROXY?: string) =>
  loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://unused', TRUST_PROXY }).TRUST_PROXY;

// Guards: no header names the client unless an operator says which proxies write it.
test('proxies are trusted by name alone', () => {
  expect([trusted(), trusted('')]).toEqual([false, false]);
  expect(trusted('2')).toBe(2);
  expect(trusted('loopback, 10.0.0.0/8,2001:db8::/32,192.0.2.1')).toEqual([
    ...['loopback', '10.0.0.0/8', '2001:db8::/32', '192.0.2.1'],
  ]);
});

// Guards against: trust in everybody, whose headers then name any client.
test.each([
  'true',
  '0',
  '-1',
  '10',
  '0.0.0.0/0',
  '::/0',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  'proxy.example',
  '10.0.0.1,',
  '10/8',
])('TRUST_PROXY=%s is refused', (text) => {
  expect(() => trusted(text)).toThrow('TRUST_PROXY: expects addresses or networks such as 10.0.0.0/8');
});

const base = (BASE_URL: string) =>
  loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://unused', BASE_URL }).BASE_URL;

const takes = (name: string, text: string): boolean => {
  try {
    loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://unused', [name]: text });
    return true;
  } catch {
    return false;
  }
};
const ADDRESSES = Object.keys(settings.shape).filter(
  (name) => takes(name, 'https://example.com') && !takes(name, 'what is no address of anything at all'),
);

// Guards against: `localhost:8116`, whose scheme is `localhost`, in any setting that is an address.
test.each(ADDRESSES)('%s has to be http or https', (name) => {
  const refused = ['localhost:8116', 'localhost:9101/v1', 'example.com', 'ftp://example.com', 'http:example.com'];
  expect(refused.filter((text) => takes(name, text))).toEqual([]);
  expect(takes(name, 'http://localhost:8116')).toBe(true);
});
// Guards against: links in mails, callbacks and cookies for a path below which nothing is served.
test.each([
  'https://example.com/aos',
  'https://example.com//',
  'https://example.com?a',
  'https://example.com/#a',
  'https://me@example.com',
])('BASE_URL=%s is refused', (text) => {
  expect(() => base(text)).toThrow(
    'BASE_URL: expects an address without a path, such as https://example.com: nothing is served below a path',
  );
});
test.each([
  ['https://example.com/', 'https://example.com'],
  ['HTTPS://Example.com:443', 'https://example.com'],
  ['http://localhost:8080', 'http://localhost:8080'],
])('BASE_URL=%s is %s', (text, kept) => {
  expect(base(text)).toBe(kept);
});

test('these are all of them', () => {
  const named = Object.keys(settings.shape).filter((name) => /_URL$|_ISSUER$|_ENDPOINT$|_API_BASE$/.test(name));
  const others = ['DATABASE_URL', 'IDENTITY_ISSUER', 'SMTP_URL'];
  expect(named.filter((name) => !ADDRESSES.includes(name))).toEqual(others);
  expect(takes('INTEGRATION_BASE_URLS', 'github=localhost:8116')).toBe(false);
});

/** @returns what is said of a file with these names */
function saidOf(...names: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'aos-env-'));
  const file = join(folder, '.env');
  writeFileSync(file, names.map((name) => `${name}=x`).join('\n'));
  try {
    return misspeltSettings(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Guards against: a misspelt line of .env that is left out without a word.
test('what is nearly a setting is told', () => {
  expect(saidOf('DATABASEURL', 'EGRES_ALLOWLIST')).toEqual([
    expect.stringMatching(/^DATABASEURL: .*did you mean DATABASE_URL\?/),
    expect.stringMatching(/^EGRES_ALLOWLIST: .*did you mean EGRESS_ALLOWLIST\?/),
  ]);
  // One letter is missing in each.
  const missed = Object.keys(settings.shape).filter((name) => name.length > 4 && saidOf(name.slice(1)).length === 0);
  expect(missed).toEqual([]);
  expect(misspeltSettings('/nowhere/.env')).toEqual([]);
});

// Guards: what is a setting, what else of the product or the SDKs reads its environment, and what is for other programs is not told.
test('what is known, and what is far from all, is not told', () => {
  const src = fileURLToPath(new URL('../../../src/', import.meta.url));
  const code = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const read = code.flatMap((file) =>
    [...readFileSync(join(src, file), 'utf8').matchAll(/\benv\.([A-Z][A-Z_]+)/g)].map(([, name]) => String(name)),
  );
  const sdk = fileURLToPath(
    new URL('../../../node_modules/@temporalio/envconfig/lib/envconfig-toml.js', import.meta.url),
  );
  const temporal = readFileSync(sdk, 'utf8').match(/\bTEMPORAL_[A-Z_]+[A-Z]\b/g) ?? [];
  expect(read.length).toBeGreaterThan(10);
  expect(temporal).toContain('TEMPORAL_TLS_SERVER_NAME');
  expect(saidOf(...Object.keys(settings.shape), ...read, ...temporal, 'TEMPORAL_PORT', 'PGLITE_PORT')).toEqual([]);
  expect(
    saidOf('NODE_ENV', 'TZ', 'COMPOSE_PROJECT_NAME', 'POSTGRES_PASSWORD', 'HTTP_PROXY', 'OTEL_SERVICE_NAME'),
  ).toEqual([]);
});

// Guards against: a required setting that is told with what its schema says of a missing value.
test('each required setting that is not set is told as that, with what to do', () => {
  let told = '';
  try {
    loadConfig({});
  } catch (error) {
    told = String(error);
  }
  const lines = told.replace('Error: ', '').split('\n');
  expect(lines).toContain('DATABASE_URL: is not set; add it to the environment or to .env');
  for (const line of lines) expect(line).not.toMatch(/Invalid input|expected/);
  expect(lines.length).toBeGreaterThan(2);
});
