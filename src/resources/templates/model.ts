/**
 * Words and rules of workflow templates: what a pipeline may say. The workflows use them too, so nothing here asks the
 * world.
 */

import type { Effort } from '../../platform/core/effort.ts';

export const STEP_KINDS = ['agent', 'action', 'gate'] as const;
export type StepKind = (typeof STEP_KINDS)[number];
/** Steps of these kinds are tried; a gate waits. */
export type AttemptedKind = Exclude<StepKind, 'gate'>;

export const STEP_ROLES = ['producer', 'reviewer', 'tester', 'assembler', 'gatekeeper', 'utility'] as const;
export type StepRole = (typeof STEP_ROLES)[number];

export const GATE_KINDS = ['human', 'webhook', 'schedule', 'pipeline_dep'] as const;
export type GateKind = (typeof GATE_KINDS)[number];

/** A phase whose upstream artifact changed is treated in one of these ways. */
export const CASCADE_MODES = ['lazy', 'strict', 'none'] as const;
type CascadeMode = (typeof CASCADE_MODES)[number];

export const TEMPLATE_STATUSES = ['active', 'archived'] as const;

export const MAX_PHASES = 200;
export const MAX_STEPS = 50;
/** As large as a body may be: a spec with as many phases and steps as are allowed has to fit in. */
export const MAX_SPEC_BYTES = 1024 * 1024;
export const DEFAULT_MAX_ATTEMPTS = 3;

/** A JSON Schema. */
export type JsonSchema = Record<string, unknown>;

export interface StepSpec {
  step_slug: string;
  kind: StepKind;
  role: StepRole;
  title?: string | undefined;
  /** Slugs of steps of the same phase; by default the one before. */
  depends_on?: string[] | undefined;
  /** The slug of an agent for an agent step, the name of a built-in action for an action step. */
  assignee?: string | undefined;
  instructions?: string | undefined;
  tools?: string[] | undefined;
  skills?: string[] | undefined;
  output_schema?: JsonSchema | undefined;
  /** How hard the model thinks; it goes before the effort of the agent. */
  effort?: Effort | undefined;
  /** It is 3 where it is not given. */
  max_attempts?: number | undefined;
  timeout_s?: number | undefined;
  gate_kind?: GateKind | undefined;
  gate_config?: Record<string, unknown> | undefined;
}

export interface PhaseSpec {
  slug: string;
  title: string;
  /** Slugs of phases; a phase that names none can start at once. */
  depends_on?: string[] | undefined;
  cascade_on_upstream_change?: CascadeMode | undefined;
  artifact?: { schema_slug: string; json_schema?: JsonSchema | undefined } | undefined;
  /** US dollars as a decimal string. */
  cost_budget_usd?: string | undefined;
  steps: StepSpec[];
}

/** A pipeline. Its address calls it a workflow; in code that word is Temporal's. */
export interface WorkflowSpec {
  slug: string;
  version: number;
  title: string;
  description?: string | undefined;
  /** The object schema of the `params` that a project is started with. */
  params?: JsonSchema | undefined;
  phases: PhaseSpec[];
}

/** A template that ships is one file under `builtin/`. */
export interface BuiltinTemplate {
  collection: string;
  tags: string[];
  spec: WorkflowSpec & { description: string };
}

/** @returns the steps that a step waits for: those it names, or the one before it */
export const stepDependencies = (steps: readonly StepSpec[], index: number): string[] =>
  steps[index]!.depends_on ?? (index === 0 ? [] : [steps[index - 1]!.step_slug]);

/** @returns the phases of a graph without cycles, each behind those that it depends on, otherwise in their own order */
export function orderPhases({ phases }: Pick<WorkflowSpec, 'phases'>): PhaseSpec[] {
  const ordered: PhaseSpec[] = [];
  const placed = new Set<string>();
  for (let waiting = [...phases]; waiting.length > 0;) {
    const next = waiting.find(({ depends_on = [] }) => depends_on.every((slug) => placed.has(slug)));
    if (!next) throw new RangeError(`phases wait for each other: ${waiting.map(({ slug }) => slug).join(', ')}`);
    placed.add(next.slug);
    ordered.push(next);
    waiting = waiting.filter((phase) => phase !== next);
  }
  return ordered;
}

/**
 * @returns the step whose output becomes the artifact of its phase: the last assembler; without one the last producer;
 * without one the last step that is neither a gate nor judges others. A phase of gates alone has none.
 */
export function artifactStep(steps: readonly StepSpec[]): StepSpec | undefined {
  const last = (isCandidate: (step: StepSpec) => boolean) => steps.findLast(isCandidate);
  return (
    last(({ role, kind }) => role === 'assembler' && kind !== 'gate') ??
    last(({ role, kind }) => role === 'producer' && kind !== 'gate') ??
    last(({ role, kind }) => kind !== 'gate' && !isJudge(role))
  );
}

/** Reviewers and testers decide whether the work of a producer goes on. */
export const isJudge = (role: StepRole): boolean => role === 'reviewer' || role === 'tester';

/** A reviewer whose step asks for no other shape replies in this one. */
const REVIEW_SCHEMA: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['decision', 'feedback'],
  properties: {
    decision: { type: 'string', enum: ['approved', 'rejected'] },
    feedback: { type: 'string', description: 'What has to change, point by point; what to keep when approved' },
  },
};

/** A tester whose step asks for no other shape replies in this one. */
const TEST_SCHEMA: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['passed', 'findings'],
  properties: {
    passed: { type: 'boolean' },
    findings: { type: 'array', items: { type: 'string' }, description: 'What was checked, and each fault found' },
  },
};

/**
 * @returns the shape that a step's output must have; for the step that makes the artifact this is the artifact's, where
 * it says no other
 */
export function outputSchemaOf(phase: PhaseSpec, step: StepSpec): JsonSchema | undefined {
  if (step.output_schema) return step.output_schema;
  if (step.role === 'reviewer') return REVIEW_SCHEMA;
  if (step.role === 'tester') return TEST_SCHEMA;
  return artifactStep(phase.steps)?.step_slug === step.step_slug ? phase.artifact?.json_schema : undefined;
}
