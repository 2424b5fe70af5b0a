/** Workflow specs for tests: small ones that are right, to be made wrong in one place. */
import type { PhaseSpec, StepSpec, WorkflowSpec } from '../../../src/resources/templates/model.ts';

export const step = (step_slug: string, more: Partial<StepSpec> = {}): StepSpec => ({
  step_slug,
  kind: 'agent',
  role: 'producer',
  assignee: 'writer',
  tools: ['calculator'],
  ...more,
});

export const gate = (step_slug: string, more: Partial<StepSpec> = {}): StepSpec => ({
  step_slug,
  kind: 'gate',
  role: 'gatekeeper',
  gate_kind: 'human',
  ...more,
});

export const phase = (slug: string, more: Partial<PhaseSpec> = {}): PhaseSpec => ({
  slug,
  title: `Phase ${slug}`,
  steps: [step('write')],
  ...more,
});

export const spec = (more: Partial<WorkflowSpec> = {}): WorkflowSpec => ({
  slug: 'newsletter',
  version: 1,
  title: 'Newsletter',
  phases: [phase('draft')],
  ...more,
});
