/** What tests of projects do again and again. */
import type { PhaseSpec, StepSpec, WorkflowSpec } from '../../src/resources/templates/model.ts';
import { eventually, type Tenant } from './service.ts';

/** An agent step of the offline model. */
export const agentStep = (slug: string, more: Partial<StepSpec> = {}): StepSpec => ({
  step_slug: slug,
  kind: 'agent',
  role: 'producer',
  assignee: 'writer',
  instructions: `Write the ${slug}.`,
  tools: ['calculator'],
  ...more,
});

export const reviewStep = (slug: string, more: Partial<StepSpec> = {}): StepSpec =>
  agentStep(slug, { role: 'reviewer', assignee: 'reviewer', instructions: 'Review the work.', ...more });

export const gateStep = (slug: string, kind: StepSpec['gate_kind'] = 'human', config: Record<string, unknown> = {}) =>
  ({
    step_slug: slug,
    kind: 'gate',
    role: 'gatekeeper',
    gate_kind: kind,
    gate_config: config,
  }) satisfies StepSpec;

export const actionStep = (slug: string, assignee: string, more: Partial<StepSpec> = {}): StepSpec => ({
  step_slug: slug,
  kind: 'action',
  role: 'utility',
  assignee,
  ...more,
});

export const phaseSpec = (slug: string, steps: StepSpec[], more: Partial<PhaseSpec> = {}): PhaseSpec => ({
  slug,
  title: `Phase ${slug}`,
  artifact: { schema_slug: `${slug}/text` },
  steps,
  ...more,
});

/** Makes a template. */
export async function makeTemplate(
  tenant: Tenant,
  slug: string,
  phases: PhaseSpec[],
  more: Partial<WorkflowSpec> = {},
) {
  const spec: WorkflowSpec = { slug, version: 1, title: `Template ${slug}`, phases, ...more };
  const { status, body } = await tenant.cp('POST', '/v1/workflows', { spec });
  if (status !== 201) throw new Error(`not made: ${JSON.stringify(body)}`);
}

/** @returns the id of the started project */
export async function startProject(tenant: Tenant, slug: string, more: Record<string, unknown> = {}): Promise<string> {
  const body = { workflow_slug: slug, brief: 'Tell the story of bread.', title: `Project ${slug}`, ...more };
  const accepted = await tenant.cp('POST', '/v1/projects', body);
  if (accepted.status !== 201) throw new Error(`not accepted: ${JSON.stringify(accepted.body)}`);
  return accepted.body.id;
}

export async function projectOf(tenant: Tenant, id: string) {
  return (await tenant.cp('GET', `/v1/projects/${id}`)).body;
}

export const untilProject = (tenant: Tenant, id: string, status: string, timeoutMs?: number) =>
  eventually(async () => {
    const project = await projectOf(tenant, id);
    if (project.status !== status) {
      throw new Error(`project ${id} is ${project.status} (${project.pause_reason}), not ${status}`);
    }
    return project;
  }, timeoutMs);

export interface TaskRow {
  id: string;
  phase_slug: string;
  status: string;
  task_kind: string;
  cost_usd: string;
}
export const tasksOf = async (tenant: Tenant, id: string): Promise<TaskRow[]> =>
  (await tenant.cp('GET', `/v1/projects/${id}/tasks`)).body.data;

export const phaseStatuses = async (tenant: Tenant, id: string): Promise<Record<string, string>> =>
  Object.fromEntries((await tasksOf(tenant, id)).map(({ phase_slug, status }) => [phase_slug, status]));

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects of it is what its assertions say
export async function stepOf(tenant: Tenant, id: string, phase: string, step: string): Promise<any> {
  const task = (await tasksOf(tenant, id)).find(({ phase_slug }) => phase_slug === phase)!;
  const { body } = await tenant.cp('GET', `/v1/projects/${id}/tasks/${task.id}/subtasks`);
  return body.data.find(({ step_slug }: { step_slug: string }) => step_slug === step);
}

export const untilStep = (tenant: Tenant, id: string, phase: string, step: string, status: string) =>
  eventually(async () => {
    const row = await stepOf(tenant, id, phase, step);
    if (row.status !== status) throw new Error(`step ${phase}/${step} is ${row.status}, not ${status}`);
    return row;
  });

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
export const attemptsOf = async (tenant: Tenant, id: string, subtaskId: string): Promise<any[]> =>
  (await tenant.cp('GET', `/v1/projects/${id}/subtasks/${subtaskId}/attempts`)).body.data;

export interface ProjectEventRow {
  id: number;
  topic: string;
  category: string;
  level: string;
  actor_kind: string;
  subtask_id: string | null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its shape is the topic's
  payload_jsonb: Record<string, any>;
}
/** Oldest first. */
export const projectEventsOf = async (tenant: Tenant, id: string): Promise<ProjectEventRow[]> =>
  (await tenant.cp('GET', `/v1/projects/${id}/events?limit=1000`)).body.data.reverse();

export const topicsOf = async (tenant: Tenant, id: string): Promise<string[]> =>
  (await projectEventsOf(tenant, id)).map(({ topic }) => topic);

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
export const artifactsOf = async (tenant: Tenant, id: string, currentOnly = true): Promise<any[]> =>
  (await tenant.cp('GET', `/v1/projects/${id}/artifacts?current_only=${currentOnly}`)).body.data;

/** A command on a project. */
export const command = (tenant: Tenant, id: string, path: string, body?: unknown) =>
  tenant.cp('POST', `/v1/projects/${id}/${path}`, body);

/** Waits until a gate is open. @returns the answers to it, for a person */
export async function untilGate(tenant: Tenant, id: string, phase: string, gate: string) {
  const { id: subtaskId } = await untilStep(tenant, id, phase, gate, 'blocked');
  const answer = (decision: string, comment?: string) =>
    command(tenant, id, `subtasks/${subtaskId}/resolve-gate`, { decision, comment });
  return {
    subtaskId: subtaskId as string,
    approve: (comment?: string) => answer('approved', comment),
    reject: (comment?: string) => answer('rejected', comment),
  };
}

/** Of the attempts of one step, oldest first. */
export async function attemptsAt(tenant: Tenant, id: string, phase: string, step: string) {
  return attemptsOf(tenant, id, (await stepOf(tenant, id, phase, step)).id);
}

/** How often a step was tried, for which reasons and with which outcomes: `initial succeeded`. */
export const triesOf = async (tenant: Tenant, id: string, phase: string, step: string): Promise<string[]> =>
  (await attemptsAt(tenant, id, phase, step)).map(({ attempt_reason, status }) => `${attempt_reason} ${status}`);

/** What the agent of an attempt was told and said. */
export async function contextOf(tenant: Tenant, { child_run_id }: { child_run_id: string }): Promise<string> {
  return (await tenant.cp('GET', `/v1/runs/${child_run_id}/context/content`)).body.content;
}
