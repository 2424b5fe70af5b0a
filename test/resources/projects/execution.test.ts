/** How a project runs: its phases and steps on the offline model, from acceptance to its last artifact. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  agentStep,
  artifactsOf,
  attemptsOf,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  reviewStep,
  startProject,
  stepOf,
  topicsOf,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService({ env: { LOG_LEVEL: process.env.TL ?? 'silent' } });
  tenant = await service.tenant('acc_acme');
});
afterAll(() => service.close());

describe('a project', () => {
  // Guards: a pipeline runs from its first phase to its last by itself, and each phase leaves one artifact.
  test('runs its phases in order and completes', async () => {
    await makeTemplate(tenant, 'two-phases', [
      phaseSpec('outline', [agentStep('draft')]),
      phaseSpec('article', [agentStep('write')], { depends_on: ['outline'] }),
    ]);
    const id = await startProject(tenant, 'two-phases');
    const project = await untilProject(tenant, id, 'completed');
    expect(Number(project.cost_total_usd)).toBeGreaterThan(0);
    expect(await phaseStatuses(tenant, id)).toEqual({ outline: 'succeeded', article: 'succeeded' });
    const artifacts = await artifactsOf(tenant, id);
    expect(artifacts.map(({ phase_slug, version }) => [phase_slug, version])).toEqual([
      ['outline', 1],
      ['article', 1],
    ]);
    expect(artifacts[1].content).toContain('Tell the story of bread.');
    const topics = await topicsOf(tenant, id);
    expect(topics[0]).toBe('project_started');
    expect(topics.at(-1)).toBe('project_completed');
  });

  // Guards: a reviewer's objection sends the work back with its reasons, and the phase fails where all attempts are
  // used up.
  test('sends rejected work back until no attempt is left', async () => {
    await makeTemplate(tenant, 'rejected', [
      phaseSpec('text', [
        agentStep('write', { max_attempts: 2 }),
        reviewStep('check', { instructions: 'Review the text. [[reject: too short]]' }),
      ]),
    ]);
    const id = await startProject(tenant, 'rejected');
    await untilProject(tenant, id, 'paused');
    const step = await stepOf(tenant, id, 'text', 'write');
    expect(step).toMatchObject({ status: 'failed', error: expect.stringContaining('too short') });
    const attempts = await attemptsOf(tenant, id, step.id);
    expect(attempts.map(({ attempt_reason, status }) => [attempt_reason, status])).toEqual([
      ['initial', 'succeeded'],
      ['review_failure', 'succeeded'],
    ]);
    const events = await projectEventsOf(tenant, id);
    expect(events.filter(({ topic }) => topic === 'review_feedback_recorded')).toHaveLength(2);
    expect(await phaseStatuses(tenant, id)).toEqual({ text: 'failed' });
    expect(await artifactsOf(tenant, id)).toEqual([]);
  });
});
