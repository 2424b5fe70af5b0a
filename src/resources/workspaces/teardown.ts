/** Ends the work of a workspace that is taken down: what begins by the clock, what is under way, what it holds. */
import { NO_STANDING } from '../../platform/core/rights.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { Trigger, WorkflowTriggers } from '../../platform/temporal/triggers.ts';
import type { ProvisionedTenant } from './provisioners/provisioner.ts';
import type { WorkspaceStore } from './store/index.ts';

interface RowsOf<Row> {
  list: (customerId: string) => Promise<Row[]>;
}

/** A schedule of Temporal follows such a row. */
type TriggerOf<Row> = (row: Row, workspaceId: string) => Trigger | undefined;

export interface TeardownDependencies<Job, Override, Heartbeat> {
  workspaces: Pick<WorkspaceStore, 'switchOffTriggers'>;
  followed: { jobs: RowsOf<Job>; overrides: RowsOf<Override>; heartbeats: RowsOf<Heartbeat> };
  triggerOf: { job: TriggerOf<Job>; override: TriggerOf<Override>; heartbeat: TriggerOf<Heartbeat> };
  triggers: Pick<WorkflowTriggers, 'remove'>;
  billing: { setModelRouter: (caller: Caller, change: { enabled: false }) => Promise<unknown> };
  projectCommands: { abandon: (caller: Caller, projectId: string) => Promise<unknown> };
  runs: { cancel: (caller: Caller, runId: string) => Promise<unknown> };
}

/** Whoever takes a workspace down acts in its name. */
const destroyer = ({ workspaceId, customerId }: ProvisionedTenant): Caller => ({
  workspaceId,
  customerId,
  actor: 'system',
  standing: NO_STANDING,
});

export const createTeardown = <Job, Override, Heartbeat>({
  workspaces,
  followed: { jobs, overrides, heartbeats },
  triggerOf,
  triggers,
  billing,
  projectCommands,
  runs,
}: TeardownDependencies<Job, Override, Heartbeat>) => ({
  /** Switches jobs and heartbeats off and removes their schedules. */
  async stopTriggers({ customerId, workspaceId }: ProvisionedTenant): Promise<void> {
    await workspaces.switchOffTriggers(customerId);
    const followers = [
      ...(await jobs.list(customerId)).map((row) => triggerOf.job(row, workspaceId)),
      ...(await overrides.list(customerId)).map((row) => triggerOf.override(row, workspaceId)),
      ...(await heartbeats.list(customerId)).map((row) => triggerOf.heartbeat(row, workspaceId)),
    ];
    for (const follower of followers) if (follower) await triggers.remove(follower.scheduleId);
  },
  /** Takes back the key of the managed model router, if the workspace has one. */
  takeBackRouterKey: (tenant: ProvisionedTenant) => billing.setModelRouter(destroyer(tenant), { enabled: false }),
  abandonProject: (tenant: ProvisionedTenant, projectId: string) =>
    projectCommands.abandon(destroyer(tenant), projectId),
  cancelRun: (tenant: ProvisionedTenant, runId: string) => runs.cancel(destroyer(tenant), runId),
});
