import { describe, expect, test } from '@jest/globals';
import Stripe from 'stripe';
import { present } from '../../../src/platform/core/present.ts';
import {
  SIGNATURE_TOLERANCE_S,
  signWebhook,
  verifyWebhook,
} from '../../../src/resources/webhook-subscriptions/signature.ts';

/** The same scheme, written by somebody else. */
const { webhooks: oracle } = new Stripe('sk_test_oracle');
const oracleAccepts = (received: string, header: string, held: string) =>
  present(oracle.signature).verifyHeader(received, header, held, SIGNATURE_TOLERANCE_S);

const secret = 'whsec_current';
const body = JSON.stringify({ type: 'run.succeeded', created_at: 1, data: { output: 'Grüße, 世界 🌍' } });
const nowS = Math.floor(Date.now() / 1000);

describe('webhook signatures', () => {
  // Guards: any implementation of the published scheme accepts our signatures, and ours accepts its.
  test('agree with an independent implementation', () => {
    expect(oracleAccepts(body, signWebhook([secret], body, nowS), secret)).toBe(true);
    const theirs = oracle.generateTestHeaderString({ payload: body, secret, timestamp: nowS });
    expect(theirs).toBe(signWebhook([secret], body, nowS));
    expect(verifyWebhook(secret, theirs, Buffer.from(body))).toBe(true);
  });

  // Guards: during a rotation a receiver with either secret accepts the delivery.
  test('carry one v1 for each secret in force', () => {
    const header = signWebhook(['whsec_new', 'whsec_old'], body, nowS);
    expect(header).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    for (const held of ['whsec_new', 'whsec_old']) {
      expect(verifyWebhook(held, header, body)).toBe(true);
      expect(oracleAccepts(body, header, held)).toBe(true);
    }
    expect(verifyWebhook('whsec_other', header, body)).toBe(false);
  });

  // Guards against: receivers that read the header into a map, keep its last v1 and refuse what the new secret signed.
  test('end with that of the new secret', () => {
    const kept = Object.fromEntries(
      signWebhook(['whsec_new', 'whsec_old'], body, nowS)
        .split(',')
        .map((part) => part.split('=')),
    );
    expect(`t=${nowS},v1=${kept.v1}`).toBe(signWebhook(['whsec_new'], body, nowS));
  });

  // Guards: a changed body and a replayed delivery are refused.
  test.each([
    ['a changed body', signWebhook([secret], body, nowS), `${body} `],
    ['a changed time', signWebhook([secret], body, nowS).replace(`t=${nowS}`, `t=${nowS - 1}`), body],
    ['a time past the tolerance', signWebhook([secret], body, nowS - SIGNATURE_TOLERANCE_S - 1), body],
    ['a time ahead of the tolerance', signWebhook([secret], body, nowS + SIGNATURE_TOLERANCE_S + 2), body],
    ['no signature', `t=${nowS}`, body],
    ['no time', signWebhook([secret], body, nowS).replace(/^t=\d+,/, ''), body],
    ['no header', undefined, body],
    ['nonsense', 'v1,t,,=', body],
  ])('refuse %s', (_what, header, received) => {
    expect(verifyWebhook(secret, header, received, { nowS })).toBe(false);
  });
});
