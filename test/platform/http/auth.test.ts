/** Sessions and the admin stamp: what is accepted, and everything near it that is not. */
import { describe, expect, test } from '@jest/globals';
import { isService } from '../../../src/platform/core/actor.ts';
import { can, standingIn } from '../../../src/platform/core/rights.ts';
import { hmacSha256 } from '../../../src/platform/core/crypto.ts';
import {
  isAdminStamp,
  readSession,
  sessionCaller,
  signAdminStamp,
  signSession,
  type SessionClaims,
} from '../../../src/platform/http/auth.ts';

const SECRET = 'a secret of some length';
const NOW = 1_800_000_000;
const claims: SessionClaims = {
  sub: 'user-1',
  email: 'ana@example.com',
  workspace: 'acc_acme',
  customer_id: 'acme',
  role: 'owner',
  iat: NOW - 60,
  exp: NOW + 60,
};
/** A session with a good signature over anything at all. */
const signed = (payload: unknown) => signSession(payload as SessionClaims, SECRET);

describe('session', () => {
  // Guards: a signed session is read back unchanged, non-ASCII text included.
  test('round trip', () => {
    const session = { ...claims, email: 'änne@exämple.com' };
    expect(readSession(signed(session), SECRET, NOW)).toEqual(session);
  });

  // Guards: sessions have the format of decision 5, which other programs produce too.
  test('format', () => {
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
    expect(signed(claims)).toBe(`${payload}.${hmacSha256(SECRET, payload, 'base64url')}`);
  });

  // Guards: no claim can be changed without the secret.
  test('a session that was tampered with is refused', () => {
    const [payload, signature] = signed(claims).split('.') as [string, string];
    const forged = Buffer.from(JSON.stringify({ ...claims, workspace: 'acc_other' })).toString('base64url');
    const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
    for (const text of [
      `${forged}.${signature}`,
      `${payload}.${flipped}`,
      `${payload}.${signature}x`,
      `${payload}.${signature}=`,
      `${payload}.${signature.slice(0, -1)}`,
      `${payload}.${signature}.${signature}`,
      `${payload}.${signature}.`,
      `${payload}.`,
      `.${signature}`,
      payload,
      '.',
      '',
      ' ',
      undefined,
    ]) {
      expect(readSession(text, SECRET, NOW)).toBeUndefined();
    }
    expect(readSession(signed(claims), 'another secret, as long', NOW)).toBeUndefined();
  });

  // Guards: a session ends, to the second.
  test('an expired session is refused', () => {
    expect(readSession(signed(claims), SECRET, claims.exp - 0.001)).toEqual(claims);
    expect(readSession(signed(claims), SECRET, claims.exp)).toBeUndefined();
  });

  // Guards: a clock that is ahead makes no session that outlives a sign-out everywhere, and a small difference locks
  // nobody out.
  test('one that has not begun is refused', () => {
    const beginning = (iat: number) => signed({ ...claims, iat, exp: NOW + 7_200 });
    expect(readSession(beginning(NOW + 300), SECRET, NOW)).toMatchObject({ iat: NOW + 300 });
    expect(readSession(beginning(NOW + 301), SECRET, NOW)).toBeUndefined();
  });

  // Guards: every session ends and names a tenant, even one with a good signature.
  test.each([
    ['no exp', { exp: undefined }],
    ['null exp', { exp: null }],
    ['text exp', { exp: String(NOW + 60) }],
    ['no sub', { sub: '' }],
    ['no workspace', { workspace: '' }],
    ['no customer', { customer_id: undefined }],
    ['unknown role', { role: 'root' }],
  ])('%s is refused', (_name, change) => {
    expect(readSession(signed({ ...claims, ...change }), SECRET, NOW)).toBeUndefined();
  });
  test.each([null, 1, 'text', []])('claims that are %j are refused', (payload) => {
    expect(readSession(signed(payload), SECRET, NOW)).toBeUndefined();
  });
  test('claims that are no JSON are refused', () => {
    const payload = Buffer.from('{').toString('base64url');
    expect(readSession(`${payload}.${hmacSha256(SECRET, payload, 'base64url')}`, SECRET, NOW)).toBeUndefined();
  });

  // Guards: the claims say who the caller is, and the admin stamp never changes that.
  test('caller', () => {
    expect(sessionCaller(claims)).toEqual({
      workspaceId: 'acc_acme',
      customerId: 'acme',
      actor: 'ana@example.com',
      standing: standingIn('acc_acme', 'owner'),
    });
    expect(can(sessionCaller(claims), 'admin.routes')).toBe(false);
    const internal = sessionCaller({ ...claims, email: '', workspace: 'acc_internal' }, { isStamped: true });
    expect(internal).toMatchObject({ actor: 'user-1' });
    expect([can(internal, 'admin.routes'), can(internal, 'deployment.routes')]).toEqual([true, true]);
  });

  // Guards against: a subject, which a signer elsewhere may let people choose, that counts as a key or the deployment.
  test.each(['api-key:1', 'deploy-token:1', 'operator', 'system', '*'])('the subject %s names no service', (sub) => {
    const { actor } = sessionCaller({ ...claims, sub, email: '' });
    expect([actor, isService(actor)]).toEqual([`subject:${sub}`, false]);
    expect(sessionCaller({ ...claims, sub, email: '', role: 'deployer' })).toMatchObject({ actor: sub });
  });
});

describe('admin stamp', () => {
  const request = { sub: 'user-1', method: 'POST', path: '/v1/customers' };
  const stamp = signAdminStamp(request, SECRET, NOW);

  // Guards: admin stamps have the format of decision 5.
  test('format', () => {
    expect(stamp).toBe(`t=${NOW},v1=${hmacSha256(SECRET, `${NOW}.user-1.POST./v1/customers`)}`);
    expect(signAdminStamp({ ...request, method: 'post' }, SECRET, NOW + 0.9)).toBe(stamp);
  });

  // Guards: an admin stamp is valid for five minutes either way and not a second more.
  test.each([
    [-301, false],
    [-300, true],
    [0, true],
    [300, true],
    [300.1, false],
    [86_400, false],
  ])('%d s later: %s', (later, accepted) => {
    expect(isAdminStamp(stamp, request, SECRET, NOW + later)).toBe(accepted);
  });

  // Guards: a stamp that somebody has seen opens no other request.
  test.each([
    ['person', { sub: 'user-2' }],
    ['method', { method: 'DELETE' }],
    ['path', { path: '/v1/customers/1' }],
    ['case of the path', { path: '/V1/customers' }],
  ])('is bound to its %s', (_name, change) => {
    expect(isAdminStamp(stamp, { ...request, ...change }, SECRET, NOW)).toBe(false);
  });

  // Guards: only the exact form is accepted, and only the right secret.
  test('other texts are refused', () => {
    const digest = stamp.slice(stamp.indexOf('v1=') + 3);
    for (const text of [
      undefined,
      '',
      `t=${NOW}`,
      `v1=${digest}`,
      `t=${NOW},v1=${digest.toUpperCase()}`,
      `t=${NOW + 1},v1=${digest}`,
      `t=${NOW},v1=${digest}0`,
      `t=${NOW},v1=${digest.slice(1)}`,
      ` ${stamp}`,
      `${stamp}\n`,
      `t=-${NOW},v1=${digest}`,
      `t=1e9,v1=${digest}`,
      `t=NaN,v1=${digest}`,
    ]) {
      expect(isAdminStamp(text, request, SECRET, NOW)).toBe(false);
    }
    expect(isAdminStamp(stamp, request, 'another secret, as long', NOW)).toBe(false);
  });
});
