/** The HTTP contract of workspaces. */
import { z } from 'zod';
import { customerIdOf } from '../../platform/core/ids.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { listReply, Timestamp } from '../../platform/http/schemas.ts';
import { PLANS, WORKSPACE_STATUSES } from './model.ts';

const Workspace = z
  .object({
    identity_workspace_id: z.string(),
    customer_id: z.string(),
    plan: z.enum(PLANS),
    plan_in_force: z
      .enum(PLANS)
      .optional()
      .describe('Whose caps count, where that is another one: a plan that costs counts from its payment'),
    status: z.enum(WORKSPACE_STATUSES),
    runtime_base_url: z.string().nullable().describe('Null until provisioning finishes'),
    error_code: z.string().nullable(),
    error_message: z.string().nullable(),
    created_at: Timestamp,
    ready_at: Timestamp.nullable(),
    archived_at: Timestamp.nullable(),
  })
  .meta({ id: 'Workspace' });
export type WorkspaceReply = z.input<typeof Workspace>;

const Config = z.record(z.string(), z.unknown());

const NewWorkspace = z
  .object({
    identity_workspace_id: z
      .string()
      .max(100)
      .regex(/^acc_/, 'must begin with acc_')
      .refine((id) => customerIdOf(id) !== '', 'must have a letter or digit after acc_')
      .describe('As the identity provider issued it'),
    plan: z.enum(PLANS).describe('Not internal'),
    config: Config.nullish().describe('Names that begin with billing_ are the service’s own and left out'),
    manage_model_vendor: z.boolean().nullish().describe('Not offered'),
  })
  .meta({ id: 'NewWorkspace' });
export type NewWorkspace = z.output<typeof NewWorkspace>;

// It has no name in the document, because what stands there for the body could not refer to it.
export const WorkspaceState = z
  .object({
    status: z.enum(['provisioning', 'ready', 'failed']),
    runtime_base_url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional(),
    error_code: z.string().min(1).max(100).optional(),
    error_message: z.string().max(500).optional(),
  })
  .describe('New state, as the provisioner or an operator knows it');
export type WorkspaceState = z.output<typeof WorkspaceState>;

const ListPath = { path: '/v1/workspaces', credential: 'identity' } as const;
const OnePath = { path: '/v1/workspaces/{identity_workspace_id}' } as const;
const params = z.object({ identity_workspace_id: z.string() });

export const listWorkspaces = endpoint({
  ...ListPath,
  id: 'workspaces.list',
  summary: 'Workspaces, oldest first',
  description: 'Of every tenant, unless `WORKSPACES_SCOPED` is set.',
  reply: listReply(Workspace),
});

export const createWorkspace = endpoint({
  ...ListPath,
  id: 'workspaces.create',
  whileArchived: true,
  summary: 'Make a workspace; provisioning follows',
  body: NewWorkspace,
  status: 201,
  reply: Workspace,
  problems: [
    'invalid_plan',
    'managed_model_vendor_not_offered',
    'insufficient_credit',
    'not_your_workspace',
    'admin_required',
    'already_exists',
    'billing_provider_failed',
  ],
});

export const getWorkspace = endpoint({
  ...OnePath,
  id: 'workspaces.get',
  credential: 'identity',
  summary: 'One workspace with its config, credentials masked',
  params,
  reply: Workspace.extend({ config: Config.nullable() }).meta({ id: 'WorkspaceDetail' }),
  problems: ['not_found'],
});

export const retryWorkspace = endpoint({
  ...OnePath,
  path: `${OnePath.path}/retry`,
  id: 'workspaces.retry',
  method: 'post',
  whileArchived: true,
  summary: 'Provision a failed workspace again',
  params,
  reply: Workspace,
  problems: ['not_found', 'workspace_not_failed'],
});

export const setWorkspaceState = endpoint({
  ...OnePath,
  path: `${OnePath.path}/state`,
  id: 'workspaces.setState',
  method: 'patch',
  credential: 'operator',
  summary: 'Say what a workspace is (operators)',
  description: 'Ends the provisioning that is under way, if any: from here on the operator decides.',
  params,
  // The use case parses the body, as an unknown workspace is said before a bad body.
  body: z.unknown().meta({ override: z.toJSONSchema(WorkspaceState) as object }),
  reply: Workspace,
  problems: ['not_found', 'workspace_in_transition'],
});

export const destroyWorkspace = endpoint({
  ...OnePath,
  id: 'workspaces.destroy',
  method: 'delete',
  credential: 'identity',
  whileArchived: true,
  right: 'workspace.destroy',
  summary: 'Take a workspace down for good',
  description:
    'Ends its runs and projects, removes its schedules, keys, files, archives and infrastructure, and answers when it is archived. The billing subscription stays. To keep what it has, download an archive first (`exports.create`).',
  params,
  reply: Workspace,
  problems: [
    'cannot_destroy_internal',
    'admin_required',
    'not_found',
    'workspace_in_transition',
    'destroy_failed',
    'runtime_unreachable',
  ],
});
