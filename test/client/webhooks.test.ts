/** `verifyWebhook` against what the service signs. */
import { describe, expect, test } from '@jest/globals';
import { verifyWebhook, WebhookVerificationError, type WebhookEvent } from '../../client/src/index.ts';
import { WEBHOOK_EVENTS } from '../../src/resources/webhook-subscriptions/model.ts';
import { signWebhook } from '../../src/resources/webhook-subscriptions/signature.ts';

const body = JSON.stringify({ type: 'run.succeeded', created_at: 1, data: { run_id: 'r', output: 'Grüße' } });
const now = 1_800_000_000;
const signed = (secrets: string[], at = now, text = body) => signWebhook(secrets, text, at);

describe('is believed', () => {
  test.each([
    ['as text', body],
    ['as bytes', new TextEncoder().encode(body)],
  ])('%s', async (_form, given) => {
    const event = await verifyWebhook({ secret: 'whsec_a', header: signed(['whsec_a']), body: given, now });
    expect(event).toEqual(JSON.parse(body));
  });

  // Guards: during a rotation a receiver verifies with the old secret, the new one, or both.
  test.each([['whsec_old'], ['whsec_new'], [['whsec_none', 'whsec_new']]])('with %j of two secrets', async (secret) => {
    const header = signed(['whsec_new', 'whsec_old']);
    await expect(verifyWebhook({ secret, header, body, now })).resolves.toBeTruthy();
  });

  test('up to the end of its tolerance, either way', async () => {
    for (const at of [now - 300, now + 300]) {
      await expect(verifyWebhook({ secret: 's', header: signed(['s'], at), body, now })).resolves.toBeTruthy();
    }
  });
});

// Guards: every kind of wrong request is refused, with a reason.
test.each([
  ['missing_header', {}, null],
  ['missing_header', {}, ''],
  ['malformed_header', {}, 'nonsense'],
  ['malformed_header', {}, `t=${now}`],
  ['malformed_header', {}, `t=${now},v0=${'a'.repeat(64)}`],
  ['malformed_header', {}, `t=${now}${`,v1=${'a'.repeat(64)}`.repeat(11)}`],
  ['no_match', {}, `t=${now},v1=${'a'.repeat(64)}`],
  ['no_match', { secret: 'other' }, undefined],
  ['no_match', { secret: '' }, undefined],
  ['no_match', { secret: [] }, undefined],
  ['no_match', { body: `${body} ` }, undefined],
  ['too_old', { now: now + 301 }, undefined],
  ['too_new', { now: now - 301 }, undefined],
  ['too_old', { now: now + 11, toleranceSeconds: 10 }, undefined],
] as const)('%s %j %s', async (reason, more, header) => {
  const request = { secret: 's', header: header === undefined ? signed(['s']) : header, body, now, ...more };
  const error = await verifyWebhook(request).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WebhookVerificationError);
  expect(error).toMatchObject({ reason });
});

test('a body that is signed and no JSON is told', async () => {
  const refused = verifyWebhook({ secret: 's', header: signed(['s'], now, '{'), body: '{', now });
  await expect(refused).rejects.toMatchObject({ reason: 'not_json' });
});

// Guards against: an event that the service sends and the client's types do not have, or the other way round.
test('its events are those of the service', () => {
  const known: Record<WebhookEvent['type'], true> = {
    'run.succeeded': true,
    'run.failed': true,
    'project.completed': true,
  };
  expect(Object.keys(known).sort()).toEqual([...WEBHOOK_EVENTS].sort());
});
