/** The bundle of the workflow code as it is, and not as it was at the last build. */
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';

const WORKFLOWS = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

export const bundleWorkflows = (workflowsPath = WORKFLOWS): Promise<WorkflowBundleWithSourceMap> =>
  workflowsPath === WORKFLOWS ? (bundle ??= bundleOf(WORKFLOWS)) : bundleOf(workflowsPath);

const bundleOf = (workflowsPath: string) => bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
