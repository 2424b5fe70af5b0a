/** What is in the archive of a workspace: all that is the workspace's, nothing of another one, and no secret. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { BROUGHT } from '../../../src/resources/exports/store/contents.ts';
import { first, present } from '../../../src/platform/core/present.ts';
import { linesIn, manifestIn, sumsIn, unpack, type Unpacked } from '../../support/archives/unpack.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { makeBelongings, makeExport, type Belongings } from '../../support/fixtures/belongings.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { confirmed } from '../../support/service/otp.ts';
import { download } from './download.ts';

const MARK = 'mark-of-ours';
const FOREIGN = 'mark-of-theirs';

let service: TestService;
let receiver: WebhookReceiver;
let ours: Tenant;
let belongings: Belongings;
let bytes: Buffer;
let archive: Unpacked;
const secrets: string[] = [];

beforeAll(async () => {
  receiver = await startWebhookReceiver(() => ({ status: 200, body: 'taken' }));
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort } });
  ours = await service.tenant('acc_ours');
  const theirs = await service.tenant('acc_theirs');
  belongings = await makeBelongings(service, ours, receiver, MARK);
  await makeBelongings(service, theirs, receiver, FOREIGN);
  await placeSecrets();
  bytes = await download(service, ours, await makeExport(ours));
  archive = await unpack(bytes);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** A known one at each place that takes any. */
async function placeSecrets(): Promise<void> {
  const keep = (secret: unknown): string => {
    if (typeof secret !== 'string' || secret.length < 8) throw new Error(`no secret: ${JSON.stringify(secret)}`);
    secrets.push(secret);
    return secret;
  };
  keep(`${MARK} password`);
  keep(`${MARK} sender`);
  keep(`${MARK} signing secret`);
  keep(ours.apiKey);
  keep((await ours.cp('POST', '/v1/api-keys', { name: 'one more' })).body.key);
  keep((await ours.cp('POST', '/v1/deploy-tokens', { name: 'pipeline' })).body.token);
  const { body: hook } = await ours.api('POST', '/v1/webhooks', { url: `${receiver.url}/secret` });
  keep(hook.signing_secret ?? hook.secret);
  const slack = keep('https://hooks.slack.example/services/T00/B00/known-slack-secret');
  await ours.cp('POST', '/v1/output-destinations', { name: 'slack', kind: 'slack', config: { webhook_url: slack } });
  const bearer = keep('known-bearer-of-a-tool-0123456789');
  const made = await ours.cp('POST', '/v1/tools', {
    slug: 'with-a-secret',
    description: 'Asks another service.',
    kind: 'webhook',
    schema: { type: 'object', properties: {} },
    body: { url: 'https://api.example.com/ask', headers: { authorization: `Bearer ${bearer}` } },
  });
  expect(made.status).toBe(201);
  const value = keep('known-password-of-a-mailbox');
  await confirmed(ours, 'PUT', '/v1/integrations/smtp/credentials/password', { value });
  // Whatever the database keeps in the place of one: sealed, or a digest.
  const kept = await service.runtime.db.rows<{ text: string }>(sql`
    select sealed as text from integration_credentials union all select sealed from integration_secrets
    union all select sealed from output_destinations where sealed is not null
    union all select sealed_body from tools union all select sealed_secret from webhook_subscriptions
    union all select key_hash from api_keys union all select token_hash from deploy_tokens
    union all select token_hash from action_links`);
  for (const { text } of kept) keep(text);
}

// Guards: no secret of the workspace leaves it, as it is, encoded, sealed or as a digest.
test('no secret is in it', () => {
  expect(secrets.length).toBeGreaterThan(15);
  const text = [...archive].map(([name, content]) => `${name}\n${content.toString('latin1')}`).join('\n');
  const found = secrets.filter(
    (secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString('base64').replace(/=+$/, '')),
  );
  expect(found).toEqual([]);
});

// Guards: whoever brings it elsewhere is told each secret that is to be set again.
test('the manifest says where a secret was', () => {
  const places = manifestIn(archive).secrets_to_set_again;
  expect(places).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'integration', name: 'smtp', field: 'mail.from' }),
      expect.objectContaining({ kind: 'integration_login', name: 'smtp' }),
      { kind: 'api_key', name: 'one more' },
      { kind: 'deploy_token', name: 'pipeline' },
      { kind: 'webhook', name: `${receiver.url}/secret` },
      { kind: 'output_destination', name: 'slack' },
      expect.objectContaining({ kind: 'variable', field: 'tool/with-a-secret' }),
    ]),
  );
});

// Guards: the archive is whole: every row of every table that goes out, and a count of each.
test('every row of the workspace is in it, and none of another one', async () => {
  const manifest = manifestIn(archive);
  const { customerId } = ours.caller;
  for (const { table, columns } of BROUGHT) {
    const lines = linesIn(archive, `rows/${table}`);
    expect({ table, rows: manifest.tables[table] ?? 0 }).toEqual({ table, rows: lines.length });
    for (const line of lines) expect(Object.keys(line)).toEqual(columns.split(' '));
  }
  const [{ runs, events } = { runs: 0, events: 0 }] = await service.runtime.db.rows<{
    runs: number;
    events: number;
  }>(sql`
    select (select count(*)::int from runs where customer_id = ${customerId}) as runs,
      (select count(*)::int from run_events where customer_id = ${customerId}) as events`);
  expect({ runs: manifest.tables.runs, events: manifest.tables.run_events }).toEqual({ runs, events });
  const text = [...archive.values()].map((content) => content.toString('latin1')).join('\n');
  expect(text).toContain(MARK);
  expect(text).not.toContain(FOREIGN);
});

// Guards against: tables that are declared and of which this test's workspace has nothing to show.
test('nearly every table has rows here', () => {
  const empty = BROUGHT.map(({ table }) => table).filter((table) => linesIn(archive, `rows/${table}`).length === 0);
  // Nobody paid, was warned, delegated, voted, overrode a job or opened a page here.
  expect(empty).toEqual(
    expect.arrayContaining(['wallet_ledger', 'topups', 'spending_notices', 'wait_delegations', 'job_overrides']),
  );
  expect(empty.length).toBeLessThan(13);
});

// Guards: what was saved and attached is in it, byte for byte.
test('the files are in it', () => {
  const saved = present(linesIn(archive, 'rows/run_artifacts').find(({ id }) => id === belongings.runArtifactId));
  expect(present(archive.get(`files/run_artifacts/${saved.id}`)).toString()).toBe(`${MARK} content`);
  const attached = linesIn(archive, 'rows/attachments');
  expect(attached).toHaveLength(3);
  for (const { id } of attached) {
    expect(present(archive.get(`files/attachments/${id}`)).toString()).toBe(`${MARK} attached`);
  }
  expect(archive.has(`files/agent_settings/${belongings.agentSlug}`)).toBe(true);
  expect(manifestIn(archive).files).toMatchObject({ count: 5, missing: 0 });
});

// Guards: whoever has the archive can tell that nothing of it was changed.
test('each file is what its digest says', () => {
  const sums = sumsIn(archive);
  for (const { name, said, is } of sums) expect({ name, digest: said }).toEqual({ name, digest: is });
  const named = sums.map(({ name }) => name);
  expect([...archive.keys()].filter((name) => !named.includes(name))).toEqual(['SHA256SUMS', 'manifest.json']);
});

// Guards: the order of the archive, in which whoever reads it can rely on what it has read.
test('it begins with what it is, and ends with what was in it', () => {
  expect(first([...archive.keys()])).toBe('README.txt');
  expect([...archive.keys()].at(-1)).toBe('manifest.json');
  expect(manifestIn(archive)).toMatchObject({
    format: 'aos-workspace-archive',
    version: 1,
    workspace: { identity_workspace_id: 'acc_ours', customer_id: 'ours' },
  });
});
