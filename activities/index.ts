/** Everything that a workflow may ask of the world. */
import { createExportActivities, type ExportDependencies } from './exports.ts';
import { createHousekeepingActivities, type HousekeepingDependencies } from './housekeeping.ts';
import { createIntegrationActivities, type IntegrationDependencies } from './integrations.ts';
import { createMeteringActivities, type MeteringDependencies } from './metering.ts';
import { createOutputActivities, type OutputDependencies } from './output-deliveries.ts';
import { createProjectActivities, type ProjectDependencies } from './projects.ts';
import { createQuickCalls } from './quick-calls.ts';
import { createRetentionActivities, type RetentionDependencies } from './retention.ts';
import { createRunActivities, type RunDependencies } from './runs.ts';
import { createScheduledJobActivities, type ScheduledJobDependencies } from './scheduled-jobs.ts';
import { createToolActivities, toolContextOf, type ToolDependencies } from './tools.ts';
import { createTurnActivities, type TurnDependencies } from './turns.ts';
import { createWebhookActivities, type WebhookDependencies } from './webhooks.ts';
import { createWorkspaceActivities, type WorkspaceDependencies } from './workspaces.ts';

/** What the activities of each domain need. */
export interface ActivityDependencies {
  turns: Omit<TurnDependencies, 'makeQuickCalls'>;
  tools: ToolDependencies;
  runs: RunDependencies;
  projects: ProjectDependencies;
  scheduledJobs: ScheduledJobDependencies;
  webhooks: WebhookDependencies;
  outputs: OutputDependencies;
  housekeeping: HousekeepingDependencies;
  integrations: IntegrationDependencies;
  workspaces: WorkspaceDependencies;
  exports: ExportDependencies;
  retention: RetentionDependencies;
  metering: MeteringDependencies;
}

export const createActivities = (needs: ActivityDependencies) => ({
  ...createTurnActivities({
    ...needs.turns,
    makeQuickCalls: createQuickCalls({ tools: needs.tools.tools, contextOf: toolContextOf(needs.tools) }),
  }),
  ...createToolActivities(needs.tools),
  ...createRunActivities(needs.runs),
  ...createProjectActivities(needs.projects),
  ...createScheduledJobActivities(needs.scheduledJobs),
  ...createWebhookActivities(needs.webhooks),
  ...createOutputActivities(needs.outputs),
  ...createHousekeepingActivities(needs.housekeeping),
  ...createIntegrationActivities(needs.integrations),
  ...createWorkspaceActivities(needs.workspaces),
  ...createExportActivities(needs.exports),
  ...createRetentionActivities(needs.retention),
  ...createMeteringActivities(needs.metering),
});

export type Activities = ReturnType<typeof createActivities>;
