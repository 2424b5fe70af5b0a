/** Links that the embedded mode prints: they sign its owner in, on this machine, once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { createLocalLinks } from '../../../src/resources/sign-in/local-links.ts';
import { LOCAL_LINK_TTL_MS } from '../../../src/resources/sign-in/model.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { addMember } from './people.ts';

const OWNER = 'owner@localhost';
const near = (headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') =>
  ({ socket: { remoteAddress }, headers }) as unknown as Parameters<ReturnType<typeof createLocalLinks>['use']>[1];
const INVALID = expect.objectContaining({ code: 'invalid_code' });

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false });
  await service.tenant('acc_internal');
  await addMember(service, 'internal', OWNER);
});
afterAll(() => service?.close());

const follow = (token: string, headers: Record<string, string> = {}) =>
  fetch(`${service.baseUrl}/login/local?token=${token}`, { redirect: 'manual', headers });

// Guards: a click signs in, and the link works once; a person who is signed in already is led on by it all the same.
test('a link signs its owner in, once', async () => {
  const token = service.services.signIn.localLinks.issue(OWNER);
  const first = await follow(token);
  expect([first.status, first.headers.get('location')]).toEqual([303, '/console']);
  const cookie = present(first.headers.getSetCookie().find((text) => text.startsWith('service_session=')));
  expect(cookie).toMatch(/HttpOnly/);
  const session = await fetch(`${service.baseUrl}/api/v1/cp/v1/system/session`, {
    headers: { cookie: itemAt(cookie.split(';'), 0) },
  });
  expect(await session.json()).toMatchObject({ actor: OWNER, workspace_id: 'acc_internal' });
  const again = await follow(token);
  expect([again.status, again.headers.getSetCookie()]).toEqual([401, []]);
  const led = await follow(token, { cookie: itemAt(cookie.split(';'), 0) });
  expect([led.status, led.headers.get('location')]).toEqual([303, '/console']);
});

// Guards against: a link that is used from another machine, also through a proxy.
test('a link that did not come straight from this machine signs nobody in', async () => {
  const token = service.services.signIn.localLinks.issue(OWNER);
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-host']) {
    expect((await follow(token, { [name]: '127.0.0.1' })).status).toBe(401);
  }
  const links = createLocalLinks();
  const own = links.issue(OWNER);
  expect(() => links.use(own, near({}, '192.0.2.7'))).toThrow(INVALID);
  expect(links.use(own, near({}, '::ffff:127.0.0.1'))).toBe(OWNER);
  expect((await follow(token)).status).toBe(303);
});

// Guards against: guessed links, links of another process, expired ones, and an unlimited number of links.
test('nothing else opens it', async () => {
  for (const token of ['', 'x', 'a'.repeat(43)]) expect((await follow(token)).status).toBe(401);
  let now = 1_000;
  const links = createLocalLinks(() => now);
  const old = links.issue(OWNER);
  now += LOCAL_LINK_TTL_MS;
  expect(() => links.use(old, near())).toThrow(INVALID);
  const pushedOut = links.issue(OWNER);
  for (let i = 0; i < 20; i++) links.issue(OWNER);
  expect(() => links.use(pushedOut, near())).toThrow(INVALID);
});

// Guards: whoever has nothing but the address of an embedded deployment reads there who its owner is and where the code stands.
test('the page of sign-in says how, where no mail server is set', async () => {
  service.services.signIn.localLinks.issue(OWNER);
  const page = await (await fetch(`${service.baseUrl}/login`)).text();
  expect(page).toContain('the code is a line of the log of the service');
  expect(page).toContain(OWNER);
  expect(createLocalLinks().owner()).toBeUndefined();
});
