/** A workflow with one of everything: parallel phases, a review, gates, schemas, budgets. */
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { SQL } from 'drizzle-orm';
import type { WorkflowSpec } from '../../../src/resources/templates/model.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { gate, phase, spec, step } from '../templates/specs.ts';

const OUTLINE = {
  type: 'object',
  required: ['headline'],
  properties: { headline: { type: 'string' } },
};

/** Declared out of order, so that the order of the record is one that was made. */
export const pipeline = (more: Partial<WorkflowSpec> = {}): WorkflowSpec =>
  spec({
    slug: 'pipeline',
    title: 'Pipeline',
    params: {
      type: 'object',
      required: ['topic'],
      properties: { topic: { type: 'string', maxLength: 40 } },
      additionalProperties: false,
    },
    phases: [
      phase('publish', {
        depends_on: ['draft', 'pictures'],
        steps: [
          gate('release', { gate_kind: 'webhook', gate_config: { expires_in_s: 3600 } }),
          step('announce', { max_attempts: 1, timeout_s: 60 }),
        ],
      }),
      phase('outline', {
        artifact: { schema_slug: 'outline', json_schema: OUTLINE },
        cost_budget_usd: '0.5',
        steps: [
          step('write'),
          step('judge', { role: 'reviewer', title: 'Judge it' }),
          gate('approve', { gate_config: { prompt: 'Good?', on_reject: 'rework' } }),
        ],
      }),
      phase('draft', {
        depends_on: ['outline'],
        cascade_on_upstream_change: 'strict',
        artifact: { schema_slug: 'markdown' },
        steps: [
          step('left', { instructions: 'Write the left half.' }),
          step('right', { depends_on: [] }),
          step('join', { role: 'assembler', depends_on: ['left', 'right'] }),
        ],
      }),
      phase('pictures', { depends_on: ['outline'] }),
    ],
    ...more,
  });

export async function makeTemplate(tenant: Tenant, given: WorkflowSpec = pipeline()): Promise<void> {
  expect(await tenant.cp('POST', '/v1/workflows', { spec: given })).toMatchObject({ status: 201 });
}

export const request = { workflow_slug: 'pipeline', title: 'A first one', brief: 'Say it.', params: { topic: 'bees' } };

/** @returns the project as it was answered */
export async function makeProject(tenant: Tenant, more: Record<string, unknown> = {}) {
  const made = await tenant.cp('POST', '/v1/projects', { ...request, ...more });
  expect(made).toMatchObject({ status: 201 });
  return made.body;
}

export const tasksOf = async (tenant: Tenant, projectId: string) =>
  (await tenant.cp('GET', `/v1/projects/${projectId}/tasks`)).body.data;

/** By phase and step slug: `outline/write`. */
export async function subtasksOf(tenant: Tenant, projectId: string) {
  const found = new Map();
  for (const { id, phase_slug } of await tasksOf(tenant, projectId)) {
    const { body } = await tenant.cp('GET', `/v1/projects/${projectId}/tasks/${id}/subtasks`);
    for (const subtask of body.data) found.set(`${phase_slug}/${subtask.step_slug}`, subtask);
  }
  return found;
}

export let service: TestService;

export let acme: Tenant;

export let other: Tenant;

/** Before the tests of a file: two tenants, one with the template. No worker is there, so projects stay as planned. */
export function usePipeline(): void {
  beforeAll(async () => {
    service = await startTestService({ worker: false });
    acme = await service.tenant('acc_acme');
    other = await service.tenant('acc_other');
    await makeTemplate(acme);
  });

  afterAll(() => service?.close());
}

export const rows = <Row>(statement: SQL) => service.runtime.db.rows<Row>(statement);
