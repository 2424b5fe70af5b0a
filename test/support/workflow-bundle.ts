/** The bundle of the workflow code as it is, and not as it was at the last build. */
import { DefaultLogger, type BundleOptions, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import * as bundling from '../../src/platform/temporal/workflow-bundle.ts';

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

export const bundleWorkflows = (workflowsPath?: string): Promise<WorkflowBundleWithSourceMap> =>
  workflowsPath === undefined ? (bundle ??= bundleOf({})) : bundleOf({ workflowsPath });

const bundleOf = (options: Partial<BundleOptions>) =>
  bundling.bundleWorkflows({}, { ...options, logger: new DefaultLogger('WARN') });
