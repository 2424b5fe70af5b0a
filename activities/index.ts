/** Everything a workflow may ask of the world. */
import { createHousekeepingActivities, type HousekeepingDependencies } from './housekeeping.ts';
import { createIntegrationActivities, type IntegrationDependencies } from './integrations.ts';
import { createMeteringActivities, type MeteringDependencies } from './metering.ts';
import { createOutputActivities, type OutputDependencies } from './output-deliveries.ts';
import { createProjectActivities, type ProjectDependencies } from './projects.ts';
import { createRetentionActivities, type RetentionDependencies } from './retention.ts';
import { createRunActivities, type RunDependencies } from './runs.ts';
import { createScheduledJobActivities, type ScheduledJobDependencies } from './scheduled-jobs.ts';
import { createToolActivities, type ToolDependencies } from './tools.ts';
import { createTurnActivities, type TurnDependencies } from './turns.ts';
import { createWebhookActivities } from './webhooks.ts';
import { createWorkspaceActivities, type WorkspaceDependencies } from './workspaces.ts';

type WebhookDependencies = Parameters<typeof createWebhookActivities>[0];

export type ActivityDependencies = TurnDependencies &
  ToolDependencies &
  RunDependencies &
  ProjectDependencies &
  ScheduledJobDependencies &
  IntegrationDependencies &
  RetentionDependencies &
  MeteringDependencies &
  OutputDependencies &
  WorkspaceDependencies &
  HousekeepingDependencies & { webhooks: WebhookDependencies };

export const createActivities = (deps: ActivityDependencies) => ({
  ...createTurnActivities(deps),
  ...createToolActivities(deps),
  ...createRunActivities(deps),
  ...createProjectActivities(deps),
  ...createScheduledJobActivities(deps),
  ...createWebhookActivities(deps.webhooks),
  ...createOutputActivities(deps),
  ...createHousekeepingActivities(deps),
  ...createIntegrationActivities(deps),
  ...createWorkspaceActivities(deps),
  ...createRetentionActivities(deps),
  ...createMeteringActivities(deps),
});

export type Activities = ReturnType<typeof createActivities>;
