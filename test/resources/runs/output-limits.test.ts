/**
 * How much a call asks a model to write. Input costs nothing here, and each token of output one cent; billing is live, and
 * there is no setting.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { routerKeyOwner } from '../../../src/resources/billing/model-router/store.ts';
import { routerKeys } from '../../../src/resources/billing/table.ts';
import { answer, answerIn, refuse, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { dispatch, eventsOf } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const WINDOW = 3_000;
/** What a workspace can pay, in millionths of a dollar. */
const PLENTY = 1_000_000_000;

let provider: OpenAiServer;
let folder: string;
let service: TestService;
let acme: Tenant;
let count = 0;
beforeAll(async () => {
  provider = await startOpenAiServer();
  folder = await mkdtemp(join(tmpdir(), 'aos-models-'));
  const price = { input_usd_per_mtok: 0, output_usd_per_mtok: 10_000 };
  const models = [
    { id: 'narrow', max_output: 700 },
    { id: 'wide', max_output: 20_000 },
    { id: 'small-window', context_window: WINDOW },
    { id: 'scripted' },
    { id: 'openrouter/auto' },
  ].map((each) => ({ ...each, provider: 'openai-compatible', price }));
  const catalogue = join(folder, 'models.json');
  await writeFile(catalogue, JSON.stringify({ models }));
  service = await startTestService({
    env: {
      BILLING_MODE: 'live',
      STRIPE_SECRET_KEY: 'sk_test_1',
      STRIPE_WEBHOOK_SECRET: 'whsec_1',
      EGRESS_ALLOWLIST: new URL(provider.baseUrl).host,
      MODEL_CATALOGUE: catalogue,
      MODEL_ROUTER_URL: provider.baseUrl,
      MODEL_ROUTER_PROVISIONING_KEY: 'provisioning',
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
    },
  });
});
beforeEach(async () => {
  provider.reset();
  acme = await service.tenant(`acc_writing_${++count}`);
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

const credit = (micros: number) =>
  service.services.stores.wallets.post({
    customerId: acme.caller.customerId,
    key: `session:${micros}`,
    kind: 'topup',
    deltaUsdMicros: micros,
  });
const asked = () => provider.requests.map(({ body }) => body.max_tokens);
const run = (override: Record<string, unknown> = {}, prompt = 'Write.') =>
  acme.run({ agent: 'assistant', prompt, override });

describe('the smallest limit', () => {
  beforeEach(() => credit(PLENTY));

  /** A reply that the limit cuts off before its first word. */
  async function cutOffAt(body: Record<string, unknown>, tokens: unknown) {
    provider.script(answerIn([], undefined, 'length'));
    const { status, error } = await acme.run(body);
    expect(asked()).toEqual([tokens]);
    expect([status, error]).toEqual(['failed', expect.stringMatching(/^model_output_truncated: /)]);
    return error;
  }
  const asks = (override: Record<string, unknown>) => ({ agent: 'assistant', prompt: 'Write.', override });

  // Guards: a call asks for what the model can write, and for no more than anything else allows; who is cut off is told by
  // what.
  test.each([
    ['nothing is known of the model', {}, 4_096, /limit of 4096 .*MODEL_MAX_OUTPUT_TOKENS.*MODEL_CATALOGUE/],
    ['the model can write no more', { model_override: 'narrow' }, 700, /limit of 700 .*largest output of the model/],
    ['the model can write much', { model_override: 'wide' }, 20_000, /limit of 20000 .*largest output of the model/],
    ['a budget can pay no more', { cost_budget_usd: '3' }, 300, /limit of 300 .*raise the budget/],
    ['a budget can pay a bit more', { cost_budget_usd: '3.009' }, 300, /limit of 300 .*raise the budget/],
  ])('where %s', async (_, override, tokens, text) => {
    expect(await cutOffAt(asks(override), tokens)).toMatch(text);
  });

  test('where the agent has one', async () => {
    const agent = { slug: 'brief', model: 'wide', prompt: 'Be brief.', allowed_tool_slugs: [], max_output_tokens: 500 };
    expect((await acme.cp('POST', '/v1/agents', agent)).status).toBe(201);
    expect(await cutOffAt({ agent: 'brief', prompt: 'Write.' }, 500)).toMatch(/limit of 500 .*max_output_tokens/);
  });

  test('where the window has no more room', async () => {
    provider.otherwise(answer('Done.'));
    for (const words of [0, 300]) await run({ model_override: 'small-window' }, 'word '.repeat(words + 1));
    const [short = NaN, long = NaN] = asked().map(Number);
    expect(short).toBeLessThan(WINDOW);
    // Texts are counted in pieces, and a word that lies in two of them counts more.
    expect(Math.abs(short - long - 300)).toBeLessThan(5);
    provider.reset();
    const error = await cutOffAt({ ...asks({ model_override: 'small-window' }), prompt: 'word '.repeat(9_000) }, 256);
    expect(error).toMatch(/limit of 256 .*context window/);
  });
});

describe('a budget that is short', () => {
  beforeEach(() => credit(PLENTY));

  // Guards: what is of no use is not asked for, and whoever is refused is told what is needed at least.
  test('of 256 tokens refuses', async () => {
    const { status, error, run_id: runId } = await run({ cost_budget_usd: '2.55' });
    expect([status, error, asked()]).toEqual([
      'failed',
      expect.stringMatching(/^budget_exceeded: .*may cost 2.56 USD and the budget of run .* has 2.55 USD left/),
      [],
    ]);
    const request = (await eventsOf(acme, runId)).find(({ event_type }) => event_type === 'claude_request');
    expect(request?.payload).toMatchObject({
      needs_usd: '2.56',
      limits: [{ limit: 'run', free_usd: '2.55', needs_usd: '2.56' }],
    });
    provider.script(answer('Done.'));
    expect(await run({ cost_budget_usd: '2.56' })).toMatchObject({ status: 'succeeded' });
    expect(asked()).toEqual([256]);
  });

  // Guards: an attempt that is repeated asks for what is held for its turn, and not for what was wanted.
  test('holds a repeated call to what the first held', async () => {
    provider.script(refuse(503, { message: 'busy' }), answer('Done.'));
    expect(await run({ cost_budget_usd: '3' })).toMatchObject({ status: 'succeeded' });
    expect(asked()).toEqual([300, 300]);
  });

  // Guards: the next call has what the one before left.
  test('pays less with each call', async () => {
    provider.script(answerIn(['Once '], { inputTokens: 1, outputTokens: 40 }, 'length'), answer('more.'));
    expect(await run({ cost_budget_usd: '3' })).toMatchObject({ status: 'succeeded', output: 'Once more.' });
    expect(asked()).toEqual([300, 260]);
  });

  // Guards: runs that ask at the same moment never hold, nor spend, more than there is.
  test('is never exceeded by runs at once', async () => {
    const limit_usd = '9';
    expect((await acme.cp('PUT', '/v1/cost/caps/workspace.month', { limit_usd })).status).toBe(200);
    const held: (() => void)[] = [];
    provider.otherwise((response, request) => void held.push(() => answer('Done.')(response, request)));
    const body = { agent: 'assistant', prompt: 'Write.' };
    await Promise.all(Array.from({ length: 6 }, () => dispatch(acme, body)));
    const statuses = async () => {
      const { body: found } = await acme.cp('GET', '/v1/runs');
      return found.data.map(({ last_status }: { last_status: string }) => last_status).sort();
    };
    await eventually(async () => {
      expect(await statuses()).toEqual([...Array(5).fill('failed'), 'running']);
      expect(held).toHaveLength(1);
    });
    expect(asked()).toEqual([900]);
    const [cap] = await service.runtime.db.rows<{ held: number }>(
      sql`select reserved_usd::float8 as held from budgets where customer_id = ${acme.caller.customerId} and period = 'month'`,
    );
    expect(cap).toEqual({ held: 9 });
    for (const release of held) release();
    await eventually(async () => expect(await statuses()).toEqual([...Array(5).fill('failed'), 'succeeded']));
  });
});

// Guards: of a wallet the markup is paid as well, so that it pays for fewer tokens.
describe('a wallet', () => {
  test('pays what it can', async () => {
    await credit(3_000_000);
    provider.script(answer('Done.'));
    expect(await run()).toMatchObject({ status: 'succeeded' });
    expect(asked()).toEqual([300]);
  });

  test.each([
    [3_611_999, 300],
    [3_612_000, 301],
  ])('pays with the markup of the model router: %i for %i', async (micros, tokens) => {
    const { customerId } = acme.caller;
    const sealed = service.services.secretBox.seal('router-key', routerKeyOwner(customerId));
    await service.runtime.db.orm.insert(routerKeys).values({ customerId, keyHash: `h${count}`, limitUsd: '2', sealed });
    await credit(micros);
    provider.script(answer('Routed.'));
    expect(await run()).toMatchObject({ status: 'succeeded' });
    expect(asked()).toEqual([tokens]);
  });
});
