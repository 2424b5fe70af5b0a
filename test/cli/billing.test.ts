/** `aos billing` as a person uses it: real processes against the real service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { last } from '../../src/platform/core/present.ts';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import {
  deliver,
  eventOf,
  LIVE_BILLING,
  startStripeServer,
  type StripeServer,
} from '../support/fakes/stripe-server.ts';

let stripe: StripeServer;
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  stripe = await startStripeServer();
  service = await startTestService({ worker: false, env: LIVE_BILLING(stripe) });
  tenant = await service.tenant('acc_cli_billing', 'free');
});
afterAll(async () => {
  await service?.close();
  await stripe?.close();
});

async function aos(...args: string[]) {
  return runCli(['billing', ...args], {
    DATA_DIR: '/nonexistent',
    AOS_URL: service.baseUrl,
    AOS_SESSION: tenant.session,
  });
}
const ok = (stdout: unknown) => ({ code: 0, stdout, stderr: '' });
const failed = (stderr: string) => ({ code: 1, stdout: '', stderr: expect.stringContaining(stderr) });

// Guards: what is sold, for people and for programs.
test('catalog and summary', async () => {
  const { stdout } = await aos('catalog');
  expect(stdout).toMatch(/^TIER +PLAN ID +USD\/MONTH +IDR\/MONTH +CAPS\n/);
  expect(stdout).toMatch(/\nstarter +plan_starter +19 +100,000 +5,000 runs a day/);
  expect(stdout).toMatch(/\nscale +- +ask us +ask us +unlimited/);
  expect(jsonOf(await aos('catalog', '--json')).mode).toBe('live');
  expect(await aos()).toEqual(
    ok('mode   live\ntier   unknown\nplan   -\nAmounts are on the invoices of the billing provider.\n'),
  );
});

// Guards: the payment page, and the wallet before and after it was paid.
test('credit', async () => {
  expect(await aos('wallet')).toEqual(ok('balance $0\n\nnothing was bought or charged\n'));
  expect(await aos('topup', '25.50', '-c', 'USD')).toEqual(
    ok(expect.stringMatching(/^pay here; the credit lands afterwards:\nhttps:\/\/pay\.example\/\d+\n$/)),
  );
  const { id } = last(stripe.created('session'));
  await deliver(service.controlPlaneUrl, eventOf('checkout.session.completed', { id, payment_status: 'paid' }));
  const { stdout } = await aos('wallet', '-n', '5');
  expect(stdout).toMatch(/^balance \$25\.5\n\nWHEN \(UTC\) +KIND +USD +BALANCE\n\S+ \S+ +topup +\$25\.5 +\$25\.5\n$/);
  expect(await aos('topup', '1')).toEqual(failed('the amount is outside of what can be paid at once'));
  expect(await aos('topup', 'much')).toMatchObject({ code: 1, stderr: expect.stringContaining('expects dollars') });
});

// Guards: a subscription made and switched, and one that wants a payment method first.
test('subscribe', async () => {
  expect(await aos('subscribe', 'plan_starter')).toEqual(ok('the subscription is created: plan_starter\n'));
  expect(await aos('subscribe', 'plan_pro')).toEqual(ok('the subscription is updated: plan_pro\n'));
  expect(await aos('subscribe', 'plan_pro', '-c', 'USD')).toEqual(
    ok(expect.stringMatching(/^leave a payment method here, then run this again:\nhttps:/)),
  );
  expect(await aos('subscribe', 'plan_nowhere')).toEqual(failed('plan plan_nowhere not found'));
});

// Guards: the add-on on and off.
test('addons', async () => {
  expect(await aos('addons')).toEqual(ok('workspace      ready\nmodel router   off\nmodel vendor   none of its own\n'));
  expect((await aos('addons', '--model-router', 'on')).stdout).toMatch(
    /\nmodel router {3}on, key [0-9a-f]{12} up to \$25\.5\n/,
  );
  expect((await aos('addons', '--model-router', 'off')).stdout).toContain('\nmodel router   off\n');
});
