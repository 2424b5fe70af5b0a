/** What workers run workflows from: their code in one piece, as it is now. */
import { bundleWorkflowCode, type BundleOptions, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';

const inWorkflows = (path: string): string => fileURLToPath(new URL(`../../../workflows/${path}`, import.meta.url));

export const bundleWorkflows = (options: Partial<BundleOptions> = {}): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({
    workflowsPath: inWorkflows('index.ts'),
    payloadConverterPath: inWorkflows('shared/payload-converter.ts'),
    ...options,
  });
