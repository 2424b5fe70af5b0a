/** Entry of the workflow bundle. Everything reachable from here is deterministic and must replay for months. */
export { agentRun } from './run/workflow.ts';
export { housekeeping } from './housekeeping/workflow.ts';
export { integrationHealth } from './integration-health/workflow.ts';
export { phase } from './phase/workflow.ts';
export { project } from './project/workflow.ts';
export { scheduledJob } from './scheduled-job/workflow.ts';
export { webhookDelivery } from './webhook-delivery/workflow.ts';
