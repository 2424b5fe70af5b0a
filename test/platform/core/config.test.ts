import { expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/platform/core/config.ts';
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
