/**
 * Texts that are slow to read, to every endpoint that takes one: an endpoint is in by being declared. None of them may
 * hold the process up, as everybody else in it waits meanwhile. `npm run proof:fuzz` sends all of them everywhere.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../src/platform/core/present.ts';
import { makeBelongings, type Belongings } from '../support/fixtures/belongings.ts';
import { byId, endpoints } from '../support/http/endpoints.ts';
import { EXAMPLES } from '../support/http/examples.ts';
import { lastDeletes, type HostileRequest } from '../support/security/hostile-requests.ts';
import { textsElsewhere } from '../support/security/hostile-elsewhere.ts';
import { textRequests } from '../support/security/hostile-text-requests.ts';
import { createBytesSender } from '../support/http/send-bytes.ts';
import { gateStep, makeTemplate, phaseSpec } from '../support/fixtures/projects.ts';
import { drawn } from '../support/runner/sizes.ts';
import { credentialsOf, type RequestParts } from '../support/http/send.ts';
import { standInForEmbeddings } from '../support/service/embeddings.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { findStalls, watchOwnLoop } from '../support/observability/stall-oracle.ts';
import { WEBHOOK_SECRET } from '../support/fakes/stripe-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

const TEXTS_A_PLACE = 1;
/** A reader in quadratic time is over the limit with it, and not yet at it for minutes. */
const LENGTH = 40_000;
const SET_UP_MS = 300_000;

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let belongings: Belongings;
let loop: ReturnType<typeof watchOwnLoop>;
const sender = createBytesSender(1);

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({
    env: {
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    },
  });
  tenant = await service.tenant('acc_texts', 'scale');
  belongings = await makeBelongings(service, tenant, receiver, 'texts');
  standInForEmbeddings(service);
  await makeTemplate(tenant, 'gated', [phaseSpec('only', [gateStep('approve')])]);
  loop = watchOwnLoop();
}, SET_UP_MS);
afterAll(async () => {
  loop.stop();
  sender.close();
  await service.close();
  await receiver.close();
});

/** A project that waits for a person: what its agents read is in `hostile-content.test.ts`. */
const withoutWork = (parts: RequestParts): RequestParts =>
  hasTemplate(parts.body) ? { ...parts, body: { ...parts.body, workflow_slug: 'gated' } } : parts;
const hasTemplate = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && 'workflow_slug' in body;

/** Statuses that each endpoint has answered. */
const answered = new Map<string, Set<number>>();

/** One after the other, until what they set off is over. */
async function sendAll(requests: readonly HostileRequest[]): Promise<void> {
  for (const { endpoint, method, path, headers, body } of requests) {
    const prefix = endpoint.surface === 'public' ? '' : '/api/v1/cp';
    const all = { ...headers, ...credentialsOf(tenant, endpoint) };
    const asked = { url: service.baseUrl, method, path: prefix + path, headers: all, ...(body && { body }) };
    const { status } = await sender.send(asked);
    answered.set(endpoint.id, (answered.get(endpoint.id) ?? new Set()).add(status));
  }
  await eventually(async () => {
    const open = await service.runtime.db.rows(sql`select 1 from runs where status in ('queued', 'running') limit 1`);
    if (open.length > 0) throw new Error('runs are still under way');
  });
}

describe.each(byId(lastDeletes(drawn('hostile texts', endpoints, endpoints.length / 3))))('%s', (id, endpoint) => {
  // Guards: no text that anybody sends stops everybody else.
  test('reads every text in time', async () => {
    const parts = withoutWork((await EXAMPLES[id]?.(belongings)) ?? {});
    const options = { textsAPlace: TEXTS_A_PLACE, length: LENGTH, seed: endpoints.indexOf(endpoint) * 7 };
    const requests = textRequests(endpoint, parts, options);
    const stalls = await findStalls(loop, requests, sendAll);
    expect(stalls.map(({ work, ms }) => `${work.what}: ${ms} ms`)).toEqual([]);
    // A signature that is not right would have each of them refused before it is read.
    if (endpoint.rawBody) expect([...present(answered.get(id))]).toContain(200);
  });
});

// Guards: the same for addresses outside of the documents: sign-in, pages, MCP.
test('beside the endpoints, too', async () => {
  const requests = textsElsewhere({ textsAPlace: TEXTS_A_PLACE, length: LENGTH, seed: 1 });
  expect(requests.length).toBeGreaterThan(20);
  const stalls = await findStalls(loop, requests, sendAll);
  expect(stalls.map(({ work, ms }) => `${work.endpoint.id}: ${work.what}: ${ms} ms`)).toEqual([]);
});
