/** Makes what provisions a workspace, and takes it down with all that goes on in it. */
import { withinDeadline } from '../platform/temporal/problems.ts';
import { createProvisioner } from '../resources/workspaces/provisioners/index.ts';
import { createWorkspaceService } from '../resources/workspaces/service.ts';
import { createTeardown } from '../resources/workspaces/teardown.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { BillingServices } from './billing.ts';
import type { Platform } from './platform.ts';
import type { Projects } from './projects.ts';
import type { Runs } from './runs.ts';
import type { TriggerServices } from './triggers.ts';

export function composeWorkspaces(
  { config, log, temporal }: Runtime,
  { files, triggers }: Platform,
  { members, stores: { signIn, workspaces } }: Access,
  { billing }: BillingServices,
  { projectCommands, stores: { projects } }: Projects,
  { runs, stores: { runs: runRows } }: Runs,
  { stores: followed, triggerOf }: TriggerServices,
) {
  const provisioner = createProvisioner(config, {
    files,
    checkRuntime: () => withinDeadline(temporal, () => temporal.connection.workflowService.getSystemInfo({})),
  });
  return {
    workspaces: createWorkspaceService({
      temporal,
      store: workspaces,
      provisioner,
      settings: config,
      log,
      hasMinimumTopup: billing.hasMinimumTopup,
      mintBillingCustomer: billing.mintBillingCustomer,
      seedOwner: members.seedOwner,
      endAccess: (customerId, but) => signIn.cutOffAll(customerId, but?.toLowerCase()),
    }),
    /** Provisioning and destruction use these. */
    teardown: {
      provisioner,
      pollMs: config.PROVISIONER_POLL,
      listOpenProjects: projects.listOpenProjects,
      listOpenRuns: runRows.listOpenRuns,
      ...createTeardown({ workspaces, followed, triggerOf, triggers, billing, projectCommands, runs }),
    },
  };
}
