/**
 * The HTTP contract of workflow templates. `WorkflowSpec` is what a pipeline may say, field by field; what only the
 * whole of it shows (references, cycles) is in `spec.ts`, which tells all faults of both kinds at once.
 */
import { z } from 'zod';
import { schemaProblem } from '../../platform/core/json-schema.ts';
import { withoutTrailingZeros } from '../../platform/core/text.ts';
import { endpoint, NO_CONTENT, type Endpoint } from '../../platform/http/endpoint.ts';
import { GATE_CONFIGS, readGateConfig } from './gates/contract.ts';
import { Effort, IntId, listReply, notBlank, Slug, Timestamp } from '../../platform/http/schemas.ts';
import {
  CASCADE_MODES,
  GATE_KINDS,
  MAX_PHASES,
  MAX_STEPS,
  STEP_ROLES,
  STEP_KINDS,
  TEMPLATE_STATUSES,
  type AttemptedKind,
  type JsonSchema as Schema,
} from './model.ts';

/** The phases of edit sessions begin so. */
const RESERVED_PHASES = 'edit-session-';
const MAX_VERSION = 1_000_000;

const text = (max: number) => notBlank(z.string().max(max));

const jsonSchema = (options: { objectOnly?: boolean } = {}) =>
  z.record(z.string(), z.unknown()).superRefine((schema, { addIssue }) => {
    const problem = schemaProblem(schema, options);
    if (problem) addIssue(problem);
  });

/** At most nine digits before the point: Postgres keeps twelve. */
const BudgetUsd = z
  .union([z.string(), z.number()], 'must be an amount in US dollars')
  .transform((amount) => (typeof amount === 'number' ? amount.toFixed(8) : amount))
  .pipe(z.string().regex(/^(?=.*[1-9])\d{1,9}(\.\d{1,8})?$/, 'must be a positive amount in US dollars'))
  .transform((amount) => withoutTrailingZeros(amount.replace(/^0+(?=\d)/, '')));

/** Who or what an assignee names. */
const ASSIGNEES: Readonly<Record<AttemptedKind, string>> = {
  agent: 'agent slug',
  action: 'name of a built-in action',
};

/** The shape without what JSON Schema cannot say. */
function documented(shape: z.ZodType): Schema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, { io: 'input' });
  return schema;
}

const Step = z
  .strictObject({
    step_slug: Slug,
    kind: z.enum(STEP_KINDS),
    role: z.enum(STEP_ROLES).optional().describe('By default `gatekeeper` for a gate, `producer` for anything else'),
    title: text(200).optional(),
    depends_on: z.array(Slug).max(MAX_STEPS).optional().describe('Steps of this phase; by default the one before'),
    assignee: text(200).optional().describe('Slug of the agent, or name of the built-in action'),
    instructions: z.string().max(20_000).optional(),
    tools: z.array(text(200)).max(100).optional(),
    skills: z.array(text(200)).max(100).optional(),
    output_schema: jsonSchema().optional().describe('JSON Schema of the output'),
    effort: Effort.optional().describe("Goes before the agent's own effort"),
    max_attempts: z.int().min(1).max(20).optional().describe('3 by default'),
    timeout_s: z.int().min(1).max(86_400).optional(),
    gate_kind: z.enum(GATE_KINDS).optional(),
    gate_config: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('What the kind of gate needs')
      .meta({ anyOf: Object.values(GATE_CONFIGS).map(documented) }),
  })
  // One pass tells every fault of a step and keeps what its parts are read as.
  .transform((step, { addIssue }) => {
    const { kind, gate_kind, gate_config, role = kind === 'gate' ? 'gatekeeper' : 'producer', ...rest } = step;
    const fault = (field: keyof typeof step, message: string) => addIssue({ code: 'custom', path: [field], message });
    if (kind === 'gate') {
      if (!gate_kind) fault('gate_kind', `a gate needs one of ${GATE_KINDS.join(', ')}`);
      if (role !== 'gatekeeper') fault('role', 'the role of a gate is gatekeeper');
      const read = gate_kind && readGateConfig(gate_kind, gate_config);
      if (read && 'faults' in read) {
        for (const { path, message } of read.faults) {
          addIssue({ code: 'custom', path: ['gate_config', ...path], message });
        }
      }
      const config = gate_config && read && 'config' in read && { gate_config: read.config };
      return { ...rest, kind, role, gate_kind, ...config };
    }
    if (!step.assignee) fault('assignee', `needs an assignee (${ASSIGNEES[kind]})`);
    for (const field of ['gate_kind', 'gate_config'] as const) {
      if (step[field] !== undefined) fault(field, 'only a gate has one');
    }
    const verdict = step.output_schema && verdictFault(step.role, step.output_schema);
    if (verdict) fault('output_schema', verdict);
    return { ...rest, kind, role };
  });

/** Why the answer of a judge in this shape would not say whether the work may go on. */
function verdictFault(role: string | undefined, { properties }: Schema): string | undefined {
  const property = (name: string): Schema =>
    typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name)
      ? { ...(properties as Record<string, Schema>)[name] }
      : {};
  const isBoolean = (name: string) => property(name)['type'] === 'boolean';
  const decisions = property('decision')['enum'];
  const decides = Array.isArray(decisions) && ['approved', 'rejected'].every((word) => decisions.includes(word));
  if (role === 'reviewer' && !decides && !isBoolean('approved')) {
    return 'a reviewer says so in a property `decision` (enum with approved and rejected) or a boolean `approved`';
  }
  if (role === 'tester' && !isBoolean('passed')) return 'a tester says so in a boolean property `passed`';
  return undefined;
}

const Phase = z.strictObject({
  slug: Slug.refine((slug) => !slug.startsWith(RESERVED_PHASES), `must not begin with ${RESERVED_PHASES}`),
  title: text(200),
  depends_on: z.array(Slug).max(MAX_PHASES).optional().describe('Phases; none means that it can start at once'),
  cascade_on_upstream_change: z.enum(CASCADE_MODES).optional().describe('`lazy` by default'),
  artifact: z.strictObject({ schema_slug: text(128), json_schema: jsonSchema().optional() }).optional(),
  cost_budget_usd: BudgetUsd.optional().describe('US dollars'),
  steps: z.array(Step).min(1).max(MAX_STEPS),
});

export const WorkflowSpec = z.strictObject({
  slug: Slug,
  version: z.int().min(1).max(MAX_VERSION),
  title: text(200),
  description: z.string().max(2_000).optional(),
  params: jsonSchema({ objectOnly: true }).optional().describe('JSON Schema of the params of a project'),
  phases: z.array(Phase).min(1).max(MAX_PHASES),
});

/** Any object here, so that `spec.ts` finds and words its faults; the documents show what it must be. */
const Spec = z.record(z.string(), z.unknown()).meta({
  id: 'WorkflowSpec',
  override: ({ jsonSchema }) => {
    for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
    Object.assign(jsonSchema, documented(WorkflowSpec));
  },
});

export const workflowMetadata = {
  collection: text(100).nullable().describe('Null takes it out of its collection'),
  tags: z.array(text(100)).max(50),
};

const NewWorkflow = z
  .object({ spec: Spec, ...workflowMetadata })
  .partial()
  .required({ spec: true })
  .meta({ id: 'NewWorkflow' });
export type NewTemplate = z.output<typeof NewWorkflow>;

const WorkflowChange = z
  .object({
    ...workflowMetadata,
    description: z.string().max(2_000),
    spec: Spec,
  })
  .partial()
  .meta({ id: 'WorkflowChange' });
export type TemplateChange = z.output<typeof WorkflowChange>;

const versionFields = {
  version: z.int(),
  description: z.string(),
  is_builtin: z.boolean(),
  status: z.enum(TEMPLATE_STATUSES),
  updated_at: Timestamp,
};
const Workflow = z
  .object({
    slug: z.string(),
    name: z.string(),
    collection: z.string().nullable(),
    tags: z.array(z.string()),
    phase_count: z.int(),
    ...versionFields,
  })
  .meta({ id: 'Workflow' });
const WorkflowDetail = Workflow.extend({ spec: Spec, created_at: Timestamp }).meta({ id: 'WorkflowDetail' });

const WorkflowQuery = z.object({
  collection: z.string().optional(),
  tag: z.string().optional(),
  include_archived: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .describe('Also those of which every version is archived'),
});
export type TemplateFilter = z.output<typeof WorkflowQuery>;

// A plain string: an ill-formed slug is an unknown workflow and no other kind of mistake.
const WorkflowPath = z.object({ slug: z.string() });

export const listStartableTemplates = endpoint({
  id: 'templates.listStartable',
  surface: 'public',
  path: '/v1/workflows',
  summary: 'List the workflows that a project can be started from, and what each needs',
  reply: listReply(
    z.object({
      slug: z.string(),
      version: z.int(),
      name: z.string(),
      description: z.string(),
      required_params: z.array(
        z.object({
          name: z.string(),
          type: z.string().describe('JSON Schema type; `any` where the workflow says none'),
          description: z.string(),
        }),
      ),
    }),
  ),
});

export const listTemplates = endpoint({
  id: 'templates.list',
  path: '/v1/workflows',
  summary: 'Built-in workflows and those of the workspace, the latest active version of each',
  query: WorkflowQuery,
  reply: listReply(Workflow),
});

export const getTemplate = endpoint({
  id: 'templates.get',
  path: '/v1/workflows/{slug}',
  summary: 'A workflow with its spec: the latest active version, or any one by its number',
  params: WorkflowPath,
  query: z.object({ version: IntId.optional() }),
  reply: WorkflowDetail,
  problems: ['not_found'],
});

export const listTemplateVersions = endpoint({
  id: 'templates.versions',
  path: '/v1/workflows/{slug}/versions',
  summary: 'Every version of a workflow, newest first',
  params: WorkflowPath,
  reply: listReply(z.object({ ...versionFields, created_at: Timestamp })),
  problems: ['not_found'],
});

export const createTemplate = endpoint({
  id: 'templates.create',
  path: '/v1/workflows',
  summary: 'Make a workflow, or a version of one',
  body: NewWorkflow,
  badInput: 400,
  status: 201,
  reply: WorkflowDetail,
  problems: ['version_exists'],
});

export const updateTemplate = endpoint({
  id: 'templates.update',
  method: 'patch',
  path: '/v1/workflows/{slug}',
  summary: 'Change what is said about a workflow, or make its next version with a spec',
  description:
    'Without `spec` the latest active version changes in place. With it the next version is made, whatever `version` ' +
    "it says; of a built-in workflow too, and that version is the workspace's own.",
  params: WorkflowPath,
  body: WorkflowChange.default({}),
  badInput: 400,
  reply: WorkflowDetail,
  problems: ['builtin_immutable', 'not_found'],
});

export const deleteTemplate = endpoint({
  id: 'templates.delete',
  method: 'delete',
  path: '/v1/workflows/{slug}',
  summary: "Archive every version of one of the workspace's workflows",
  params: WorkflowPath,
  reply: NO_CONTENT,
  problems: ['builtin_immutable', 'not_found'],
});

/** The same endpoint under the name that workflows had before. */
export const aliasOf = (workflows: Endpoint): Endpoint => ({
  ...workflows,
  id: workflows.id.replace('templates.', 'templates-alias.'),
  path: workflows.path.replace('/v1/workflows', '/v1/templates'),
  deprecated: true,
});
