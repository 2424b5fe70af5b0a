/** Entry of the workflow bundle. Everything reachable from here is deterministic and must replay for months. */
export { agentRun } from './run/workflow.ts';
export { exportWorkspace } from './export/workflow.ts';
export { housekeeper } from './housekeeper/workflow.ts';
export { integrationHealth } from './integration-health/workflow.ts';
export { outputDelivery } from './output-delivery/workflow.ts';
export { phase } from './phase/workflow.ts';
export { project } from './project/workflow.ts';
export { scheduledJob } from './scheduled-job/workflow.ts';
export { systemJob } from './system-job/workflow.ts';
export { destroyWorkspace, provisionWorkspace } from './workspace/workflow.ts';
export { webhookDelivery } from './webhook-delivery/workflow.ts';
