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
