/**
 * What no client of good will sends, to every endpoint: an endpoint is in by being declared. Each request is right but
 * for one place, and must get what the OpenAPI document promises, soon, without keeping others waiting, and leave the
 * service as it was.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documents } from '../../src/openapi.ts';
import type { Endpoint } from '../../src/platform/http/endpoint.ts';
import { makeBelongings, type Belongings } from '../support/fixtures/belongings.ts';
import { createReplyCheck } from '../support/http/documented-replies.ts';
import { byId, endpoints } from '../support/http/endpoints.ts';
import { EXAMPLES } from '../support/http/examples.ts';
import { hostileElsewhere } from '../support/security/hostile-elsewhere.ts';
import { hostileRequests, lastDeletes, type HostileRequest } from '../support/security/hostile-requests.ts';
import { faultOfWire, floods, wireAttacks } from '../support/security/hostile-wire.ts';
import { startProject } from '../support/fixtures/projects.ts';
import { createBytesSender } from '../support/http/send-bytes.ts';
import { credentialsOf } from '../support/http/send.ts';
import { drawn } from '../support/runner/sizes.ts';
import { GATEWAYS, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { findStalls, watchOwnLoop } from '../support/observability/stall-oracle.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

/** Another one at each place; `npm run proof:fuzz` tries all of them everywhere. */
const VALUES_A_PLACE = 1;
/** One of each thing is made before, which takes its time on a busy machine. */
const SET_UP_MS = 300_000;

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let belongings: Belongings;
let faultOfReply: ReturnType<typeof createReplyCheck>;
let loop: ReturnType<typeof watchOwnLoop>;
const sender = createBytesSender(4);

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort } });
  tenant = await service.tenant('acc_hostile');
  belongings = await makeBelongings(service, tenant, receiver, 'hostile');
  const { public: ofPublic, controlPlane } = documents(service.routes, service.runtime.config);
  faultOfReply = createReplyCheck({ public: ofPublic(), 'control-plane': controlPlane() });
  loop = watchOwnLoop();
}, SET_UP_MS);
afterAll(async () => {
  loop.stop();
  sender.close();
  await service.close();
  await receiver.close();
});

async function faultOf(
  { endpoint, method, path, headers, body }: HostileRequest,
  faultOfAnswer = faultOfReply,
): Promise<string | undefined> {
  const prefix = endpoint.surface === 'public' ? '' : '/api/v1/cp';
  const all = { ...headers, ...credentialsOf(tenant, endpoint) };
  const asked = { url: service.baseUrl, method, path: prefix + path, headers: all, ...(body && { body }) };
  return sender.send(asked).then(
    (reply) => (reply.headers['x-injected'] ? 'a header of the caller is in it' : faultOfAnswer(endpoint, reply)),
    (error: Error) => error.message,
  );
}

/** Sends them all, and looks whether the service stood still meanwhile. */
async function faultsOfAll(requests: readonly HostileRequest[], faultOfAnswer = faultOfReply): Promise<string[]> {
  const faults = new Set<string>();
  const said = ({ method, path, what }: HostileRequest, fault: string) =>
    faults.add(`${method} ${path.slice(0, 200)} with ${what}: ${fault}`);
  const sendAll = (some: readonly HostileRequest[]) =>
    Promise.all(
      some.map(async (request) => {
        const fault = await faultOf(request, faultOfAnswer);
        if (fault) said(request, fault);
      }),
    );
  for (const { work, ms } of await findStalls(loop, requests, sendAll)) said(work, `holds the service up for ${ms} ms`);
  return [...faults];
}

/** Nothing to be wrong in: what is sent beside it is all that there is. */
const takesNothing = ({ params, query, body, upload, uploads }: Endpoint) =>
  !(params ?? query ?? body ?? upload ?? uploads);

describe.each(byId(lastDeletes(drawn('hostile input', endpoints, endpoints.length / 3))))('%s', (id, endpoint) => {
  // Guards: no input of a caller gives an internal error, a hanging request or an answer that clients cannot expect.
  test('answers hostile input as documented', async () => {
    const parts = (await EXAMPLES[id]?.(belongings)) ?? {};
    const options = { valuesAPlace: VALUES_A_PLACE, seed: endpoints.indexOf(endpoint) };
    const requests = hostileRequests(endpoint, parts, options);
    expect(await faultsOfAll(requests)).toEqual([]);
    expect(requests.length).toBeGreaterThanOrEqual(takesNothing(endpoint) ? 2 : 3);
  });
});

// Guards: addresses that are no endpoints take hostile input no worse.
test('so do the addresses that are no endpoints', async () => {
  const requests = hostileElsewhere({ valuesAPlace: VALUES_A_PLACE });
  const faults = await faultsOfAll(requests, (_, { status }) => (status < 500 ? undefined : `it is ${status}`));
  expect(faults).toEqual([]);
});

// Guards: malformed HTTP, several requests in one and endless requests are answered or cut off, and harm nobody.
test.each(GATEWAYS)('connections are used as they must not be, %s', async (_, { split }) => {
  const asked = split ? await startTestService({ split }) : service;
  const faults: string[] = [];
  // The workspace is archived by now, and its keys with it.
  const caller = await asked.tenant('acc_wire');
  const { apiKey, session } = caller;
  const projectId = await startProject(caller, 'blog-post');
  const attacks = wireAttacks(`authorization: Bearer ${apiKey}\r\n`);
  for (const attack of [...attacks, ...floods({ apiKey, session, projectId })]) {
    const attackOnce = async () => {
      const fault = await faultOfWire(asked.baseUrl, attack);
      if (fault) faults.push(`${attack.name}: ${fault}`);
    };
    for (const { ms } of await findStalls(loop, [attack], attackOnce)) {
      faults.push(`${attack.name}: it holds the service up for ${ms} ms`);
    }
  }
  if (split) await asked.close();
  expect(faults).toEqual([]);
});

// Guards: no text of a caller has become a property of every object in this process.
test('the prototype is as it was', () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect({}).not.toHaveProperty('polluted');
});

// Guards: after all of it the service works.
test('a run succeeds', async () => {
  const another = await service.tenant('acc_afterwards');
  expect(await another.run({ prompt: 'Say something.' })).toMatchObject({ status: 'succeeded' });
});
