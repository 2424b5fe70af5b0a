/** What a declaration of an endpoint leaves out. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { endpoint, NO_CONTENT, type Endpoint } from '../../../src/platform/http/endpoint.ts';

const usualOf = ({
  surface,
  credential,
  method,
  status,
}: Pick<Endpoint, 'surface' | 'credential' | 'method' | 'status'>) => [surface, credential, method, status];
const kite = { id: 'kites.one', path: '/v1/kites', summary: 'A kite', reply: z.object({}) };

// Guards: an endpoint that says nothing of its credential asks for a session, or for an API key on the public surface.
test('an endpoint has usual values', () => {
  expect(usualOf(endpoint(kite))).toEqual(['control-plane', 'session', 'get', 200]);
  expect(usualOf(endpoint({ ...kite, surface: 'public' }))).toEqual(['public', 'api-key', 'get', 200]);
  expect(usualOf(endpoint({ ...kite, body: z.object({}) }))).toEqual(['control-plane', 'session', 'post', 200]);
  expect(usualOf(endpoint({ ...kite, reply: NO_CONTENT }))).toEqual(['control-plane', 'session', 'get', 204]);
});

// Guards: what a declaration says holds.
test('a declaration comes before usual values', () => {
  const said = { surface: 'control-plane', credential: 'operator', method: 'delete', status: 201 } as const;
  expect(usualOf(endpoint({ ...kite, ...said }))).toEqual(['control-plane', 'operator', 'delete', 201]);
});
