/**
 * Rights over time, generated: each credential of a person is made while they are a member; then they are removed, made a
 * viewer, or their workspace is archived; then it is used, at every endpoint that takes it.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { isForOpen, type Endpoint } from '../../src/platform/http/endpoint.ts';
import { endpoints } from '../support/http/endpoints.ts';
import { openStream, type OpenStream } from '../support/http/event-stream.ts';
import { claimsFor, startIdentityProvider, type IdentityProvider } from '../support/fakes/identity-provider.ts';
import { callTool, makeKey, sessionOf } from '../support/fixtures/credentials.ts';
import { call, startTestService, tenantOf, type Tenant, type TestService } from '../support/service/service.ts';
import { matrixPath } from '../support/security/wrong-credentials.ts';
import { dispatch } from '../support/fixtures/runs.ts';
import { addMember } from '../resources/sign-in/people.ts';
import { present } from '../../src/platform/core/present.ts';

let service: TestService;
let provider: IdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider();
  service = await startTestService({
    worker: false,
    env: { ...provider.settings, EXTENSIONS: 'sse', LIVE_STREAM_LIFE: '1h' },
  });
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

interface Held {
  /** Endpoints that take a credential of this kind. */
  isFor: (endpoint: Endpoint) => boolean;
  headers: Record<string, string>;
  address: string;
}

const EMAIL = 'pat@person.example';
/** Records name it otherwise than the provider does, because it has a colon. */
const SUBJECT = 'provider:pat';
const isTenant = ({ credential }: Endpoint) => !['internal', 'operator', 'provider', 'api-key'].includes(credential);

/** Everything that a member has in hand, made while they are one. */
async function held(workspace: Tenant): Promise<Record<string, Held>> {
  const session = (sub: string, email = EMAIL) => sessionOf(workspace, { sub, email }, 'admin');
  const person = tenantOf(service.baseUrl, { ...workspace.caller, actor: EMAIL }, '', session(EMAIL));
  const { key } = await makeKey(person);
  const deploy = (await person.cp('POST', '/v1/deploy-tokens', { name: 'pipeline' })).body.token;
  const token = (claims: object) => provider.token({ ...claimsFor(workspace), email: EMAIL, ...claims });
  const [public_, proxy, direct] = [service.baseUrl, `${service.baseUrl}/api/v1/cp`, service.controlPlaneUrl];
  const bySession = (value: string): Held => ({
    isFor: isTenant,
    headers: { cookie: `service_session=${value}` },
    address: proxy,
  });
  const byToken = async (claims: object): Promise<Held> => ({
    isFor: ({ credential }) => credential === 'identity',
    headers: { authorization: `Bearer ${await token(claims)}` },
    address: direct,
  });
  const whole = await byToken({ sub: SUBJECT });
  // The bearer is seen once with all that the provider says.
  expect((await call(`${direct}/v1/workspaces/${workspace.caller.workspaceId}`, 'GET', whole.headers)).status).toBe(
    200,
  );
  return {
    'a session': bySession(session(EMAIL)),
    'a session by subject': bySession(session('pat-1')),
    'a session by subject alone': bySession(session(SUBJECT, '')),
    'a session by another spelling alone': bySession(session(EMAIL.toUpperCase(), '')),
    'a deploy token': bySession(deploy),
    'an API key': {
      isFor: ({ credential }) => credential === 'api-key',
      headers: { authorization: `Bearer ${key}` },
      address: public_,
    },
    'an access token': whole,
    'an access token without an address': await byToken({ email: undefined, sub: SUBJECT }),
    'an access token with an unconfirmed address': await byToken({ email_verified: false, sub: SUBJECT }),
  };
}

const KINDS = [
  ...['a session', 'a session by subject', 'a session by subject alone', 'a session by another spelling alone'],
  ...['a deploy token', 'an API key', 'an access token'],
  ...['an access token without an address', 'an access token with an unconfirmed address'],
];
const isSession = (kind: string): boolean => kind.startsWith('a session');

/** What became of the person, and which statuses their credentials may be answered with from then on. */
const CHANGES = {
  removed: {
    of: (workspace: Tenant, id: string) => workspace.cp('DELETE', `${membersOf(workspace)}/${id}`),
    allows: (): boolean => false,
  },
  'made a viewer': {
    of: (workspace: Tenant, id: string) => workspace.cp('PATCH', `${membersOf(workspace)}/${id}`, { role: 'viewer' }),
    // Sessions end with a change of role; what the credentials of programs still may is to look, a deploy token at files.
    allows: ({ method, right }: Endpoint, kind: string): boolean =>
      method === 'get' && !isSession(kind) && (kind !== 'a deploy token' || right === 'manifests.read'),
  },
  'of an archived workspace': {
    async of({ caller: { customerId } }: Tenant) {
      await service.runtime.db.rows(sql`
        update workspaces set status = 'archived', archived_at = now() where customer_id = ${customerId}`);
      return { status: 200 };
    },
    allows: (endpoint: Endpoint): boolean => !isForOpen(endpoint),
  },
} as const;
const membersOf = ({ caller: { workspaceId } }: Tenant) => `/v1/workspaces/${workspaceId}/members`;

let workspaces = 0;
/** A workspace of its own with an admin beside its owner. */
async function joined() {
  const workspace = await service.tenant(`acc_over-time-${++workspaces}`, 'scale');
  const { customerId, actor } = workspace.caller;
  await addMember(service, customerId, actor, 'owner');
  const id = await addMember(service, customerId, EMAIL, 'admin');
  return { workspace, id };
}

/** @returns what was not refused although it is to be, by each credential at each endpoint that takes it */
async function taken(credentials: Record<string, Held>, mustBeRefused: (endpoint: Endpoint, kind: string) => boolean) {
  const wrong: string[] = [];
  let asked = 0;
  for (const [name, { isFor, headers, address }] of Object.entries(credentials)) {
    for (const endpoint of endpoints.filter((each) => isFor(each) && mustBeRefused(each, name))) {
      const { status, body } = await fetch(address + matrixPath(endpoint), {
        method: endpoint.method.toUpperCase(),
        headers,
      });
      // A stream that is let in does not end, and the test is to name it.
      await body?.cancel();
      asked += 1;
      if (![401, 403].includes(status)) wrong.push(`${name} at ${endpoint.id}: ${status}`);
    }
  }
  return { wrong, asked };
}

describe.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])('somebody %s', (change) => {
  // Guards: what the person may not do by now, no credential does for them, at any endpoint.
  test('does nothing any more that was taken away', async () => {
    const { workspace, id } = await joined();
    const credentials = await held(workspace);
    expect(Object.keys(credentials)).toEqual(KINDS);
    // The same requests are let through while the person is an admin, or nothing was shown.
    const [one] = endpoints.filter(({ id: of }) => of === 'runs.list');
    for (const kind of KINDS.filter(isSession))
      expect(
        (await call(present(credentials[kind]).address + present(one).path, 'GET', present(credentials[kind]).headers))
          .status,
      ).toBe(200);
    expect((await CHANGES[change].of(workspace, id)).status).toBeLessThan(300);
    const { wrong, asked } = await taken(credentials, (endpoint, kind) => !CHANGES[change].allows(endpoint, kind));
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(100);
  });

  // Guards: a stream that was begun ends within seconds when its reader may not read it any more.
  test('reads no stream to its end', async () => {
    const { workspace, id } = await joined();
    const { 'a session': session, 'an API key': key } = await held(workspace);
    const run = await dispatch(workspace, { agent: 'writer', prompt: 'Wait.' });
    const open: OpenStream[] = [
      await openStream(`${present(session).address}/v1/live`, present(session).headers),
      await openStream(`${present(key).address}/v1/runs/${run}`, present(key).headers),
    ];
    expect(open.map(({ response }) => response.status)).toEqual([200, 200]);
    expect((await CHANGES[change].of(workspace, id)).status).toBeLessThan(300);
    const ends = change === 'removed' ? open : change === 'made a viewer' ? open.slice(0, 1) : [];
    for (const stream of ends) {
      await stream.ended;
      expect(stream.events.at(-1)).toMatchObject({ event: 'end', data: { reason: 'signed_out' } });
    }
    await Promise.all(open.map((stream) => stream.close()));
  });

  // Guards: by MCP a key may what it may on the public API, at every moment.
  test('changes nothing by MCP', async () => {
    const { workspace, id } = await joined();
    const { 'an API key': key } = await held(workspace);
    const secret = present(present(key).headers['authorization']).slice('Bearer '.length);
    const dispatched = { agent: 'writer', prompt: 'Do something.' };
    expect(await callTool(service, secret, 'dispatch_run', dispatched)).toMatchObject({ isError: false });
    expect((await CHANGES[change].of(workspace, id)).status).toBeLessThan(300);
    const after = await callTool(service, secret, 'dispatch_run', dispatched);
    const code = change === 'made a viewer' ? 'read_only' : 'workspace_archived';
    if (change === 'removed') expect(after.status).toBe(401);
    else expect(after).toMatchObject({ isError: true, content: { code } });
  });
});

// Guards against: a key whose row is committed right after its maker's removal, by a request that was let in before.
test('keys and deploy tokens of a removed maker are refused at use', async () => {
  const { workspace, id } = await joined();
  const { 'an API key': key, 'a deploy token': token } = await held(workspace);
  await CHANGES.removed.of(workspace, id);
  const { customerId } = workspace.caller;
  await service.runtime.db.rows(sql`update api_keys set revoked_at = null where customer_id = ${customerId}`);
  await service.runtime.db.rows(sql`update deploy_tokens set revoked_at = null where customer_id = ${customerId}`);
  expect((await call(`${present(key).address}/v1/agents`, 'GET', present(key).headers)).status).toBe(401);
  expect((await call(`${present(token).address}/v1/manifests`, 'GET', present(token).headers)).status).toBe(401);
});

// Guards: what was taken with a removal does not come back with the person.
test('keys and deploy tokens stay revoked when their maker is taken in again', async () => {
  const { workspace, id } = await joined();
  const { 'an API key': key, 'a deploy token': token } = await held(workspace);
  await CHANGES.removed.of(workspace, id);
  await addMember(service, workspace.caller.customerId, EMAIL, 'admin');
  await service.runtime.db.rows(sql`
    delete from former_members where customer_id = ${workspace.caller.customerId}`);
  expect((await call(`${present(key).address}/v1/agents`, 'GET', present(key).headers)).status).toBe(401);
  expect((await call(`${present(token).address}/v1/manifests`, 'GET', present(token).headers)).status).toBe(401);
});
