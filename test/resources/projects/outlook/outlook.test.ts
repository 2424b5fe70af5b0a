/** What decided how long a project took, and what a command would run and cost, through the API. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  untilProject,
} from '../../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../../support/service/service.ts';

let service: TestService;
let acme: Tenant;
let other: Tenant;

beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
  await makeTemplate(acme, 'story', [
    phaseSpec('research', [agentStep('look')]),
    phaseSpec('text', [agentStep('write'), gateStep('approve')], { depends_on: ['research'] }),
    phaseSpec('page', [agentStep('build')], { depends_on: ['text'] }),
  ]);
});
afterAll(() => service?.close());

/** Asks for 'projects.criticalPath' or 'projects.estimate'. */
const ask = (id: string, path: string, tenant = acme) => tenant.cp('GET', `/v1/projects/${id}/${path}`);

/** @returns the id of a project whose gate waits */
async function waiting(): Promise<string> {
  const id = await startProject(acme, 'story');
  await eventually(async () => {
    const { body } = await acme.cp('GET', '/v1/inbox', undefined, {});
    expect(JSON.stringify(body.data)).toContain(id);
  });
  return id;
}
async function approve(id: string): Promise<void> {
  const { body } = await acme.cp('GET', `/v1/inbox?project_id=${id}`);
  const [wait]: { id: string; revision: number }[] = body.data;
  const answer = { answer: 'approve', revision: wait?.revision };
  expect((await acme.cp('POST', `/v1/inbox/${wait?.id}/answer`, answer)).status).toBe(200);
  await untilProject(acme, id, 'completed');
}

describe('what a project is to take and cost', () => {
  // Guards: a phase that never ran is unknown and not free; the critical path ends with what waits, and says that it waited.
  test('of a first project is known by its agents alone', async () => {
    const id = await waiting();
    const { status, body } = await ask(id, 'critical-path');
    expect(status).toBe(200);
    expect(body.path).toEqual(['research', 'text']);
    expect(body.phases[1]).toMatchObject({ phase_slug: 'text', is_critical: true, slack_ms: 0, completed_at: null });
    expect(body.phases[1].waited_ms).toBeGreaterThan(0);
    expect(body.phases[2]).toMatchObject({ is_critical: false, took_ms: null, started_at: null });

    const { body: rest } = await ask(id, 'estimate?of=resume');
    expect(rest.phases.map(({ phase_slug: slug }: { phase_slug: string }) => slug)).toEqual(['text', 'page']);
    expect(rest.phases[1]).toMatchObject({ basis: 'agents', samples: 1 });
    expect(Number(rest.cost_usd)).toBeGreaterThan(0);

    await approve(id);
    const again = await ask(id, 'estimate?of=retrigger&phase_slug=research&cascade=strict');
    expect(again.body).toMatchObject({
      phases: [
        { phase_slug: 'research', basis: 'this_project' },
        { phase_slug: 'text', basis: 'this_project' },
        { phase_slug: 'page', basis: 'this_project' },
      ],
      marked_stale: [],
      budget_left_usd: null,
    });
    const lazy = await ask(id, 'estimate?of=retrigger&phase_slug=research');
    expect(lazy.body).toMatchObject({ phases: [{ phase_slug: 'research' }], marked_stale: ['text', 'page'] });
    const reverted = await ask(id, 'estimate?of=revert&phase_slug=text&cascade=strict');
    expect(reverted.body.phases).toMatchObject([{ phase_slug: 'page' }]);
    expect((await ask(id, 'critical-path')).body.path).toEqual(['research', 'text', 'page']);
  });

  // Guards: the estimate is what the command then does and says.
  test('of a retrigger is what the retrigger does', async () => {
    const id = await waiting();
    await approve(id);
    const { body: estimate } = await ask(id, 'estimate?of=retrigger&phase_slug=page');
    expect(estimate.phases[0].samples).toBe(1);
    const { body: done } = await acme.cp('POST', `/v1/projects/${id}/phases/page/retrigger`, {});
    expect(done).toMatchObject({ cost_estimate_usd: estimate.cost_usd, marked_stale: estimate.marked_stale });
  });

  // Guards: what phases cost in other projects of the workflow, for one that never ran; a budget's rest beside it.
  test('of a later project is known by the earlier ones', async () => {
    const done = await waiting();
    await approve(done);
    const id = await startProject(acme, 'story', { cost_budget_usd: '5' });
    const { body } = await ask(id, 'estimate?of=resume');
    expect(body.phases.at(-1)).toMatchObject({ phase_slug: 'page', basis: 'earlier_projects' });
    expect(Number(body.budget_left_usd)).toBeGreaterThan(4);
  });

  // Guards: another workspace's project, and what makes no sense to ask.
  test('is refused for what there is not', async () => {
    const id = await startProject(acme, 'story');
    expect((await ask(id, 'critical-path', other)).status).toBe(404);
    expect((await ask(id, 'estimate?of=resume', other)).status).toBe(404);
    expect((await ask(id, 'estimate?of=retrigger&phase_slug=none')).status).toBe(404);
    expect((await ask(id, 'estimate?of=retrigger')).status).toBe(422);
    expect((await ask(id, 'estimate?of=resume&phase_slug=text')).status).toBe(422);
  });
});
