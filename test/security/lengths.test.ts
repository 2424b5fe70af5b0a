/** Downloads whose row lies about the size: what is sent is what is stored, and the next answer on the connection is its own. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../src/platform/core/present.ts';
import { BINARY, type Endpoint } from '../../src/platform/http/endpoint.ts';
import { makeBelongings, picture, type Belongings } from '../support/fixtures/belongings.ts';
import { endpoints } from '../support/http/endpoints.ts';
import { answersOn } from '../support/http/one-connection.ts';
import { credentialsOf, send, urlOf, type RequestParts } from '../support/http/send.ts';
import { EXAMPLES } from '../support/http/examples.ts';
import { GATEWAYS, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

interface Source {
  what: string;
  parts: (of: Belongings) => RequestParts;
  /** The column that has the size. */
  column?: readonly [table: string, column: string];
}

/** Everything that each endpoint of bytes serves. */
const SOURCES: Readonly<Record<string, readonly Source[]>> = {
  'agents.getAvatar': [{ what: 'a picture', parts: ({ agentSlug }) => ({ params: { slug: agentSlug } }) }],
  'files.download': [
    {
      what: 'an attachment',
      parts: ({ attachmentId }) => ({ query: { id: attachmentId } }),
      column: ['attachments', 'size_bytes'],
    },
    {
      what: 'a file of a run',
      parts: ({ runArtifactId }) => ({ query: { id: runArtifactId } }),
      column: ['run_artifacts', 'size_bytes'],
    },
  ],
  'exports.download': [
    {
      what: 'an archive',
      parts: ({ workspaceId, exportId }) => ({
        params: { identity_workspace_id: workspaceId, export_id: exportId },
      }),
      column: ['workspace_exports', 'size_bytes'],
    },
  ],
};
const SIZES = [0, 1, 10_000_000, 2 ** 40];

const ofBytes = endpoints.filter(({ reply }) => reply === BINARY);
const cases = ofBytes.flatMap((endpoint) =>
  (SOURCES[endpoint.id] ?? []).map((source): [string, Endpoint, Source] => [
    `${endpoint.id}: ${source.what}`,
    endpoint,
    source,
  ]),
);

// Guards against: an endpoint that sends bytes and is not tried.
test('every endpoint that sends bytes has a source', () => {
  expect(ofBytes.map(({ id }) => id).sort()).toEqual(Object.keys(SOURCES).sort());
});

describe.each(GATEWAYS)('%s', (_name, options) => {
  let service: TestService;
  let receiver: WebhookReceiver;
  let tenant: Tenant;
  let belongings: Belongings;
  beforeAll(async () => {
    receiver = await startWebhookReceiver(() => ({ status: 200, body: 'taken' }));
    service = await startTestService({
      ...options,
      env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort },
    });
    tenant = await service.tenant('acc_lengths');
    belongings = await makeBelongings(service, tenant, receiver, 'mark');
    const avatar = present(endpoints.find(({ id }) => id === 'agents.putAvatar'));
    const put = await send(service, tenant, avatar, await present(EXAMPLES[avatar.id])(belongings));
    expect([put.status, (await picture()).length > 0]).toEqual([avatar.status, true]);
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
  });

  const lie = async ([table, column]: readonly [string, string], size: number): Promise<void> => {
    const changed = await service.runtime.db.rows(sql`
      update ${sql.identifier(table)} set ${sql.identifier(column)} = ${size}
      where customer_id = ${tenant.caller.customerId} returning 1`);
    expect(changed.length).toBeGreaterThan(0);
  };

  /** The download, and the answer after it on the same connection. */
  async function ask(endpoint: Endpoint, { parts }: Source, headers: Record<string, string> = {}) {
    const url = urlOf(service, endpoint, parts(belongings));
    const [download, next, ...more] = await answersOn([url, `${service.baseUrl}/healthz`], {
      ...credentialsOf(tenant, endpoint),
      ...headers,
    });
    expect(more).toEqual([]);
    expect(next).toMatchObject({ status: 200, body: Buffer.from('{"status":"ok"}') });
    return present(download);
  }

  // Guards against: a length that a row says. More bytes than it are taken for the next answer (response splitting behind a proxy
  // with shared connections); fewer have the caller wait for bytes that never come.
  test.each(cases)('%s has the length of what is stored', async (_case, endpoint, source) => {
    const honest = await ask(endpoint, source);
    expect(honest.status).toBe(200);
    expect(honest.body.length).toBeGreaterThan(1);
    for (const size of source.column ? SIZES : []) {
      await lie(present(source.column), size);
      const { status, headers, body } = await ask(endpoint, source);
      expect({ size, status, length: headers.get('content-length') }).toEqual({
        size,
        status: 200,
        length: honest.headers.get('content-length'),
      });
      expect(body.equals(honest.body)).toBe(true);
    }
  });

  // Guards: a part is a part of what is stored.
  test.each(cases.filter(([, { ranged }]) => ranged))('%s in parts', async (_case, endpoint, source) => {
    const whole = await ask(endpoint, source);
    for (const size of SIZES) {
      await lie(present(source.column), size);
      const tail = await ask(endpoint, source, { range: 'bytes=5-' });
      expect([tail.status, tail.headers.get('content-range')]).toEqual([
        206,
        `bytes 5-${whole.body.length - 1}/${whole.body.length}`,
      ]);
      expect(tail.body.equals(whole.body.subarray(5))).toBe(true);
      const beyond = await ask(endpoint, source, { range: `bytes=${whole.body.length}-` });
      expect(beyond.status).toBe(416);
    }
  });
});
