/**
 * What a caller can do with workspaces. A workspace is accepted by its row, and a workflow provisions it; where the start
 * of that is lost, housekeeping repeats it. A destruction begins with its workflow, so that where none can be started
 * nothing has changed.
 */
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/client';
import { DESTROY_WORKSPACE, PROVISION_WORKSPACE, type WorkspaceInput } from '../../../workflows/workspace/messages.ts';
import type { destroyWorkspace, provisionWorkspace } from '../../../workflows/workspace/workflow.ts';
import type { Config } from '../../platform/core/config.ts';
import { customerIdOf, INTERNAL_WORKSPACE } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { priorityOf } from '../../platform/core/priority.ts';
import { causesOf } from '../../platform/core/causes.ts';
import { Problem } from '../../platform/core/problem.ts';
import { can, demand } from '../../platform/core/rights.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import { parseRequest } from '../../platform/http/validate.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { namedIfUnreachable, orAfter, withinDeadline } from '../../platform/temporal/problems.ts';
import { searchAttributes } from '../../platform/temporal/search-attributes.ts';
import { createRounds } from '../../platform/temporal/rounds.ts';
import { createLostStarts, createStarter, START_AGAIN_MS } from '../../platform/temporal/starting.ts';
import { queueName } from '../../platform/temporal/task-queues.ts';
import { setWorkspaceState, WorkspaceState, type NewWorkspace, type WorkspaceReply } from './contract.ts';
import { destroyWorkflowId, isHosted, masked, provisionWorkflowId, type WorkspaceRef } from './model.ts';
import type { Provisioner } from './provisioners/provisioner.ts';
import type { WorkspaceRow, WorkspaceStore } from './store/index.ts';

export type WorkspaceService = ReturnType<typeof createWorkspaceService>;

export interface WorkspaceServiceDependencies {
  temporal: Temporal;
  store: WorkspaceStore;
  provisioner: Pick<Provisioner, 'resources'>;
  settings: Pick<
    Config,
    | 'BILLING_MODE'
    | 'BILLING_STRICT'
    | 'PROVISIONER_ATTEMPTS'
    | 'PROVISIONER_RETRY_INITIAL'
    | 'PROVISIONING_TIMEOUT'
    | 'TASK_QUEUE_PREFIX'
    | 'WORKER_QUEUES'
    | 'WORKSPACES_SCOPED'
  >;
  /** @returns whether the first top-up that managed infrastructure asks for was made; true where nothing is billed */
  hasMinimumTopup: (customerId: string, what: 'managed_infra') => Promise<boolean>;
  /** @returns the same customer each time for one workspace; null where billing is not in use */
  mintBillingCustomer: (workspace: {
    workspaceId: string;
    customerId: string;
    email: string | null;
  }) => Promise<string | null>;
  /** Lets the person sign in who makes the workspace that is the caller's own. */
  seedOwner: (customerId: string, email: string) => Promise<void>;
  /** Ends what was signed for the life before, except for this person; undefined ends it for everybody. */
  endAccess: (customerId: string, but: string | undefined) => Promise<void>;
  log: Log;
  /** A request waits this long for a destruction, which then goes on; another request waits on. */
  patienceMs?: number;
}

const PATIENCE_MS = 25_000;
/** A provisioning that is under way is looked at this often. */
const LOOK_AGAIN_MS = 30_000;
const MAX_ERROR = 500;

export const createWorkspaceService = (deps: WorkspaceServiceDependencies) => {
  const { temporal, store, provisioner, settings, hasMinimumTopup, mintBillingCustomer, seedOwner, endAccess, log } =
    deps;
  const { patienceMs = PATIENCE_MS } = deps;
  const { workflow } = temporal.client;

  const executionId = (id: string): string => settings.TASK_QUEUE_PREFIX + id;
  const startOptions = ({ identityWorkspaceId, customerId }: WorkspaceRow, ref: WorkspaceRef) => ({
    taskQueue: queueName(settings, 'orchestration'),
    args: [
      {
        ...ref,
        resources: [...provisioner.resources],
        retry: { initialMs: settings.PROVISIONER_RETRY_INITIAL, attempts: settings.PROVISIONER_ATTEMPTS },
        timeoutMs: settings.PROVISIONING_TIMEOUT,
      },
    ] as [WorkspaceInput],
    typedSearchAttributes: searchAttributes({ workspaceId: identityWorkspaceId }),
    staticSummary: identityWorkspaceId,
    staticDetails: `Workspace \`${identityWorkspaceId}\`, generation ${ref.generation}`,
    priority: priorityOf(customerId),
  });

  const startOnce = createStarter(store.noteStarted);

  /**
   * Starts the provisioning of what was accepted. Repeating it does nothing.
   * @returns whether it started
   */
  async function startProvisioning(row: WorkspaceRow): Promise<boolean> {
    return startOnce(row, () =>
      withinDeadline(temporal, () =>
        workflow.start<typeof provisionWorkspace>(PROVISION_WORKSPACE, {
          ...startOptions(row, { customerId: row.customerId, generation: row.generation }),
          workflowId: executionId(provisionWorkflowId(row)),
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
        }),
      ),
    );
  }

  const startOrLeave = (row: WorkspaceRow): Promise<unknown> =>
    startProvisioning(row).catch((err: unknown) =>
      log.warn(
        { err, workspace_id: row.identityWorkspaceId },
        'a provisioning could not be started; housekeeping will start it',
      ),
    );

  /** @returns whether the provisioning of a generation has closed; one that an operator took over never had any */
  async function hasClosed(row: WorkspaceRow): Promise<boolean> {
    try {
      const handle = workflow.getHandle(executionId(provisionWorkflowId(row)));
      return (await handle.describe()).status.name !== 'RUNNING';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** A provisioning that has lost its workflow is recorded as failed. */
  const recordLost = (row: WorkspaceRow): Promise<void> =>
    store.recordProvisioningFailed(row, {
      code: 'provisioning_lost',
      message: 'the provisioning ended without a result',
    });
  const load = async (ids: readonly string[]) =>
    (await store.loadMany(ids)).map((row) => ({ id: row.identityWorkspaceId, row }));

  /** @returns a workspace as this caller may manage it @throws Problem not_found */
  async function own(caller: Caller, workspaceId: string): Promise<WorkspaceRow> {
    const row = found(await store.find(workspaceId));
    if (row.identityWorkspaceId !== caller.workspaceId) demand(caller, 'workspaces.reach-any');
    return row;
  }

  /** @throws Problem workspace_in_transition where it takes longer than somebody waits */
  async function forgetArchive(customerId: string): Promise<void> {
    const until = performance.now() + patienceMs;
    if (await store.forgetArchive(customerId, () => performance.now() > until)) return;
    throw new Problem('workspace_in_transition', 'what it held before is still being deleted; ask again');
  }

  /** @throws Problem billing_provider_failed in strict mode */
  async function billingConfig(caller: Caller, workspaceId: string): Promise<Record<string, string>> {
    const customerId = customerIdOf(workspaceId);
    const email = caller.actor.includes('@') ? caller.actor : null;
    try {
      const billingCustomerId = await mintBillingCustomer({ workspaceId, customerId, email });
      return billingCustomerId === null ? {} : { billing_customer_id: billingCustomerId };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (settings.BILLING_STRICT) {
        throw error instanceof Problem ? error : new Problem('billing_provider_failed', message.slice(0, MAX_ERROR));
      }
      log.warn({ err: error, workspace_id: workspaceId }, 'no billing customer was made');
      return { billing_customer_error: message.slice(0, MAX_ERROR) };
    }
  }

  return {
    async list(caller: Caller) {
      const isScoped = settings.WORKSPACES_SCOPED && !can(caller, 'workspaces.reach-any');
      const rows = await store.list(isScoped ? caller.customerId : undefined);
      return { data: rows.map(wire), meta: { total: rows.length } };
    },

    async get(caller: Caller, workspaceId: string) {
      const row = settings.WORKSPACES_SCOPED ? await own(caller, workspaceId) : found(await store.find(workspaceId));
      return { ...wire(row), config: masked(row.config) as Record<string, unknown> | null };
    },

    async create(caller: Caller, body: NewWorkspace) {
      const { identity_workspace_id: workspaceId, plan, config, manage_model_vendor } = body;
      if (plan === 'internal') throw new Problem('invalid_plan');
      if (manage_model_vendor) throw new Problem('managed_model_vendor_not_offered');
      const isForOther = can(caller, 'workspaces.create-any');
      if (caller.workspaceId !== workspaceId) demand(caller, 'workspaces.create-any');
      const customerId = customerIdOf(workspaceId);
      if (isHosted(plan) && !(await hasMinimumTopup(customerId, 'managed_infra'))) {
        throw new Problem('insufficient_credit');
      }
      const there = await store.findByCustomer(customerId);
      const isTaken = there && (there.status !== 'archived' || there.identityWorkspaceId !== workspaceId);
      if (isTaken) throw new Problem('already_exists');
      // Nobody has a role in a workspace that never was; one that was taken down still has its members.
      if (there && !isForOther) demand(caller, 'workspace.create-again');
      // The customer comes first, as it is the same one each time: whatever fails from here on leaves no half of a
      // workspace. One that was archived keeps its customer and its subscription at the provider, which its end did not
      // cancel.
      const kept = onlyBilling(there?.config ?? {});
      const billing = kept.billing_customer_id ? kept : { ...kept, ...(await billingConfig(caller, workspaceId)) };
      const whole = { ...withoutBilling(config ?? {}), ...billing };
      // The plan that a tenant asks for counts from its payment on, where something is billed.
      const isGranted = settings.BILLING_MODE === 'internal_noop' || can(caller, 'plans.grant');
      if (there) await forgetArchive(customerId);
      const row = await store.create({ workspaceId, plan, config: whole, isGranted }, async ({ isAgain }) => {
        // The operator makes it for somebody else, and says for whom by adding a member.
        const owner = caller.workspaceId === workspaceId ? caller.actor : undefined;
        if (isAgain) await endAccess(customerId, owner);
        if (owner !== undefined) await seedOwner(customerId, owner);
      });
      if (!row) throw new Problem('already_exists');
      await startOrLeave(row);
      return wire(row);
    },

    async retry(caller: Caller, workspaceId: string) {
      const before = await own(caller, workspaceId);
      const row = await store.retry(workspaceId);
      if (!row) {
        const isDestroyed = before.status === 'failed' && before.destroyingSince !== null;
        throw new Problem(
          'workspace_not_failed',
          isDestroyed ? 'it failed while it was taken down: delete it again' : `the workspace is ${before.status}`,
        );
      }
      await startOrLeave(row);
      return wire(row);
    },

    /** An operator sets the state: the row is looked for before the body is looked at. */
    async setState(workspaceId: string, body: unknown) {
      const before = found(await store.find(workspaceId));
      const { body: state } = parseRequest(
        { ...setWorkspaceState, body: WorkspaceState },
        { params: { identity_workspace_id: workspaceId }, query: {}, body },
      ) as { body: WorkspaceState };
      const row = await store.setState(workspaceId, {
        status: state.status,
        runtimeBaseUrl: state.runtime_base_url,
        errorCode: state.error_code,
        errorMessage: state.error_message,
      });
      if (!row) {
        const what = before.status === 'archived' ? 'archived' : 'being taken down';
        throw new Problem('workspace_in_transition', `the workspace is ${what}`);
      }
      // Its generation is over, so the workflow is cut off already; this only spares it the rest of its step.
      await withinDeadline(temporal, () => workflow.getHandle(executionId(provisionWorkflowId(before))).cancel()).catch(
        () => {},
      );
      return wire(row);
    },

    /**
     * Answers when the workspace is archived. A destruction that is under way is joined; one that failed is continued.
     */
    async destroy(caller: Caller, workspaceId: string) {
      const row = await own(caller, workspaceId);
      // eslint-disable-next-line no-restricted-syntax -- about the workspace, whoever asks
      if (workspaceId === INTERNAL_WORKSPACE) throw new Problem('cannot_destroy_internal');
      if (row.status === 'archived') return wire(row);
      if (row.status !== 'ready' && row.status !== 'failed') {
        throw new Problem('workspace_in_transition', `the workspace is ${row.status}`);
      }
      const isUnderWay = row.destroyingSince !== null && row.errorCode === null;
      const ref = { customerId: row.customerId, generation: row.generation + (isUnderWay ? 0 : 1) };
      const handle = await withinDeadline(temporal, () =>
        workflow.start<typeof destroyWorkspace>(DESTROY_WORKSPACE, {
          ...startOptions(row, ref),
          workflowId: executionId(destroyWorkflowId(ref)),
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        }),
      ).catch(async (error: unknown) => {
        // It may be on its way still. What was answered with a 502 must not end a workspace whenever it arrives.
        if (!isUnderWay) await store.forgoDestroying(ref);
        throw error;
      });
      await orAfter(patienceMs, handle.result(), () => {
        const message = 'it is still going on; ask again to wait on';
        throw new Problem('destroy_failed', { code: 'still_running', message });
      }).catch(async (error: unknown) => {
        // Another destruction may have ended between the look above and the start of this one, which then found nothing to do.
        if ((await store.find(workspaceId))?.status !== 'archived') rethrowDestroyFailed(error);
      });
      return wire(found(await store.find(workspaceId)));
    },

    /** This chore starts provisionings that were accepted. */
    startLost: createLostStarts({
      take: () => store.takeDue('pending', START_AGAIN_MS),
      load,
      async start({ row }) {
        const isStarted = await startProvisioning(row);
        if (!isStarted && (await hasClosed(row))) await recordLost(row);
        return isStarted;
      },
      what: 'workspace',
      log,
    }),

    /** This chore settles provisionings that have lost their workflow. */
    settleLost: createRounds({
      take: () => store.takeDue('provisioning', LOOK_AGAIN_MS),
      load,
      async handle({ row }) {
        if (await hasClosed(row)) await recordLost(row);
      },
      failed: (err, { id }) => log.error({ err, workspace_id: id }, 'a provisioning could not be looked at'),
    }),
  };
};

/** Names that begin so are the service's own; a caller's are left out. */
const isBilling = (name: string): boolean => name.startsWith('billing_');
const withoutBilling = (config: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(config).filter(([name]) => !isBilling(name)));
const onlyBilling = (config: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(config).filter(([name]) => isBilling(name) && name !== 'billing_customer_error'));

function rethrowDestroyFailed(error: unknown): never {
  if (error instanceof Problem) throw error;
  for (const cause of causesOf(error)) {
    if (!(cause instanceof ApplicationFailure)) continue;
    if (cause.type === 'workspace_in_transition') throw new Problem('workspace_in_transition', cause.message);
    throw new Problem('destroy_failed', { code: cause.type ?? 'internal_error', message: cause.message });
  }
  const named = namedIfUnreachable(error);
  if (named instanceof Problem) throw named;
  throw new Problem('destroy_failed', { code: 'stopped', message: 'the destruction was stopped; ask again' });
}

const wire = (row: WorkspaceRow): WorkspaceReply => ({
  identity_workspace_id: row.identityWorkspaceId,
  customer_id: row.customerId,
  plan: row.plan,
  ...(row.planInForce !== row.plan && { plan_in_force: row.planInForce }),
  status: row.status,
  runtime_base_url: row.runtimeBaseUrl,
  error_code: row.errorCode,
  error_message: row.errorMessage,
  created_at: row.createdAt,
  ready_at: row.readyAt,
  archived_at: row.archivedAt,
});
