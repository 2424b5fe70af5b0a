/**
 * What a project may spend. The model costs nothing for input and a cent a token of output, of which a reply may have a
 * hundred: before each call a dollar is held, and three cents are spent.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { answer, callTools, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import {
  agentStep,
  command,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  startProject,
  stepOf,
  tasksOf,
  topicsOf,
  triesOf,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { eventually, type Tenant, type TestService } from '../../support/service/service.ts';
import { startPricedService } from '../../support/service/priced.ts';

let provider: OpenAiServer;
let close: () => Promise<void>;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  ({ service, provider, close } = await startPricedService());
  acme = await service.tenant('acc_acme');
  await makeTemplate(acme, 'three', [phaseSpec('text', [agentStep('a'), agentStep('b'), agentStep('c')])]);
  const parts = Array.from({ length: 6 }, (_, n) => agentStep(`part-${n}`, { depends_on: [] }));
  await makeTemplate(acme, 'six-at-once', [phaseSpec('text', parts)]);
});
afterEach(() => provider.reset());
afterAll(() => close?.());

const budgetTo = (id: string, cost_budget_usd: string | null) =>
  acme.cp('PATCH', `/v1/projects/${id}`, { cost_budget_usd });
const breaches = async (id: string) =>
  (await topicsOf(acme, id)).filter((topic) => topic === 'cost_budget_breached').length;
async function budgetOf(id: string) {
  const [row] = await service.runtime.db.rows(sql`
    select spent_usd::float8 as spent, reserved_usd::float8 as reserved from budgets where id = ${`project:${id}`}`);
  return row as { spent: number; reserved: number };
}
const untilBreached = async (id: string) => {
  const project = await untilProject(acme, id, 'paused');
  expect(project).toMatchObject({ pause_reason: 'budget_breached' });
  return project;
};

describe('the budget of a project', () => {
  // Guards: a project stops before it exceeds its budget, with its events in order. Raised and resumed it goes on, and
  // the attempt that was stopped does not count against the step.
  test('stops it before the spend', async () => {
    provider.otherwise(answer('Done.'));
    const id = await startProject(acme, 'three', { cost_budget_usd: '1.03' });
    expect(await untilBreached(id)).toMatchObject({ cost_total_usd: '0.06' });
    expect(provider.requests).toHaveLength(2);
    expect(await budgetOf(id)).toEqual({ spent: 0.06, reserved: 0 });
    expect((await topicsOf(acme, id)).slice(-2)).toEqual(['cost_budget_breached', 'project_paused']);
    expect(await triesOf(acme, id, 'text', 'c')).toEqual(['initial failed']);
    expect((await stepOf(acme, id, 'text', 'c')).status).toBe('pending');

    // Resumed without more money it stops again, however often, and uses up no attempt.
    for (const times of [2, 3, 4, 5]) {
      await command(acme, id, 'resume');
      await eventually(async () => expect(await breaches(id)).toBe(times));
      await untilBreached(id);
    }
    expect(await budgetTo(id, '1.06')).toMatchObject({ status: 200, body: { cost_budget_usd: '1.06' } });
    expect(await command(acme, id, 'resume')).toMatchObject({ status: 200 });
    expect(await untilProject(acme, id, 'completed')).toMatchObject({ cost_total_usd: '0.09' });
    expect((await triesOf(acme, id, 'text', 'c')).at(-1)).toBe('auto_retry succeeded');
  });

  // Guards: a budget that is set while a call is under way counts what that may cost.
  test('is set while a call is under way', async () => {
    const held: (() => void)[] = [];
    provider.otherwise((response, request) => void held.push(() => answer('Done.')(response, request)));
    const id = await startProject(acme, 'six-at-once');
    await provider.received(6);
    await budgetTo(id, '7');
    expect(await budgetOf(id)).toEqual({ spent: 0, reserved: 6 });
    for (const release of held) release();
    await untilProject(acme, id, 'completed');
    expect(await budgetOf(id)).toEqual({ spent: 0.18, reserved: 0 });
  });

  // Guards: simultaneous steps never spend more than the shared budget, and hold nothing afterwards.
  test('is never exceeded by parallel steps', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    provider.otherwise((response, request) => void released.then(() => answer('Done.')(response, request)));
    const id = await startProject(acme, 'six-at-once', { cost_budget_usd: '2.5' });
    await untilBreached(id);
    expect(await budgetOf(id)).toEqual({ spent: 0, reserved: 2 });
    release();
    await eventually(async () => expect(await budgetOf(id)).toEqual({ spent: 0.06, reserved: 0 }));
    expect(provider.requests).toHaveLength(2);
    expect(await budgetTo(id, null)).toMatchObject({ body: { cost_budget_usd: null } });
    await command(acme, id, 'resume');
    expect(await untilProject(acme, id, 'completed')).toMatchObject({ cost_total_usd: '0.18', cost_budget_usd: null });
  });

  // Guards: a warning is given once when most of a budget is spent, and again only for a new budget.
  test('is warned of once', async () => {
    const dear = answer('Done.', { inputTokens: 1, outputTokens: 90 });
    provider.script(dear, answer('Done.'), dear);
    const id = await startProject(acme, 'three', { cost_budget_usd: '1' });
    await untilBreached(id);
    const warnings = async () =>
      (await projectEventsOf(acme, id)).filter(({ topic }) => topic === 'cost_threshold_warning');
    const warning = { level: 'warn', category: 'cost', payload_jsonb: { spent_usd: '0.9', budget_usd: '1' } };
    expect(await warnings()).toMatchObject([warning]);
    await command(acme, id, 'resume');
    await eventually(async () => expect(await breaches(id)).toBe(2));
    await untilBreached(id);
    expect(await warnings()).toHaveLength(1);
    await budgetTo(id, '2');
    await command(acme, id, 'resume');
    await untilProject(acme, id, 'completed');
    expect(await warnings()).toMatchObject([warning, { payload_jsonb: { spent_usd: '1.83', budget_usd: '2' } }]);
    expect(await acme.cp('GET', `/v1/projects/${id}/cost`)).toMatchObject({
      body: { total_usd: '1.83', budget_usd: '2', budget_burn: 0.915 },
    });
  });

  // Guards: the cost of spawned runs counts for the step that spawned them.
  test('covers the runs that a step starts', async () => {
    const spawn = { id: 'spawn', name: 'spawn_run', arguments: { agent: 'writer', prompt: 'Salt' } };
    provider.script(callTools(spawn), answer('Salt.'), answer('Done.'));
    await makeTemplate(acme, 'spawning', [phaseSpec('text', [agentStep('a', { tools: ['spawn_run'] })])]);
    const id = await startProject(acme, 'spawning', { cost_budget_usd: '1.05' });
    // Two calls fit; the third one, of the step itself, does not.
    await untilBreached(id);
    expect(await budgetOf(id)).toEqual({ spent: 0.06, reserved: 0 });
    provider.reset();
    provider.script(callTools(spawn), answer('Salt.'), answer('Done.'));
    await budgetTo(id, '2');
    await command(acme, id, 'resume');
    expect(await untilProject(acme, id, 'completed')).toMatchObject({ cost_total_usd: '0.15' });
    const step = await stepOf(acme, id, 'text', 'a');
    expect(step.cost_usd).toBe('0.15');
    expect(await tasksOf(acme, id)).toMatchObject([{ cost_usd: '0.15', cost_budget_usd: null }]);
  });
});

// Guards: a phase's budget is for each of its starts.
test('the budget of a phase stops the project', async () => {
  provider.otherwise(answer('Done.'));
  await makeTemplate(acme, 'phase-budget', [
    phaseSpec('cheap', [agentStep('a'), agentStep('b')], { cost_budget_usd: '1.03' }),
    phaseSpec('dear', [agentStep('a')], { depends_on: ['cheap'] }),
  ]);
  const id = await startProject(acme, 'phase-budget');
  await untilProject(acme, id, 'completed');
  // A second start has the same budget again.
  await command(acme, id, 'phases/cheap/retrigger', { cascade: 'none' });
  expect(await untilProject(acme, id, 'completed')).toMatchObject({ cost_total_usd: '0.15' });

  await makeTemplate(acme, 'phase-too-small', [phaseSpec('cheap', [agentStep('a')], { cost_budget_usd: '0.99' })]);
  const small = await startProject(acme, 'phase-too-small');
  await untilBreached(small);
  expect(await projectOf(acme, small)).toMatchObject({ cost_total_usd: '0', cost_budget_usd: null });
  expect(await phaseStatuses(acme, small)).toEqual({ cheap: 'running' });
  expect(provider.requests).toHaveLength(5);

  // A larger one lets it go on; also one that is none.
  const raise = (budgets: Record<string, string | null>) =>
    acme.cp('PATCH', `/v1/projects/${small}`, { phase_cost_budgets: budgets });
  for (const [budgets, why] of [
    [{ dear: '1' }, 'no phase "dear"'],
    [{ cheap: '-1' }, 'phase_cost_budgets'],
    [{}, 'names no phase'],
  ] as const) {
    expect(await raise(budgets)).toMatchObject({ status: 400, body: { detail: expect.stringContaining(why) } });
  }
  expect((await raise({ cheap: '0.995' })).status).toBe(200);
  expect(await tasksOf(acme, small)).toMatchObject([{ cost_budget_usd: '0.995' }]);
  await command(acme, small, 'resume');
  await untilBreached(small);
  expect((await raise({ cheap: null })).status).toBe(200);
  await command(acme, small, 'resume');
  expect(await untilProject(acme, small, 'completed')).toMatchObject({ cost_total_usd: '0.03' });
  // What an earlier start spent does not count.
  expect((await raise({ cheap: '1.01' })).status).toBe(200);
  await command(acme, small, 'phases/cheap/retrigger', {});
  expect(await untilProject(acme, small, 'completed')).toMatchObject({ cost_total_usd: '0.06' });
});
