/** Bundles of the workflow code for the workers of tests. */
import { DefaultLogger, type BundleOptions, type WorkflowBundle } from '@temporalio/worker';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as bundling from '../../../src/platform/temporal/workflow-bundle.ts';

/** Set-up, with which tests and proofs begin, makes it anew when a workflow has changed. */
export const BUNDLE = fileURLToPath(new URL('../../../dist/workflow-bundle.js', import.meta.url));

let code: Promise<string> | undefined;

/** That of the product. */
export const bundleWorkflows = async (): Promise<WorkflowBundle> => ({
  code: await (code ??= readFile(BUNDLE, 'utf8')),
});

/** Of the workflows in one file. */
export const bundleOfFile = (workflowsPath: string): Promise<WorkflowBundle> => bundleOf({ workflowsPath });

/** That of the product, for workers on which a day takes a second (`scaled-time.ts`). No worker of the product has it. */
export const bundleHurriedWorkflows = (): Promise<WorkflowBundle> =>
  bundleOf({
    workflowInterceptorModules: ['../../../workflows/shared/trace-carrier.ts', './scaled-time.ts'].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    ),
  });

const bundleOf = (options: Partial<BundleOptions>) =>
  bundling.bundleWorkflows({}, { ...options, logger: new DefaultLogger('WARN') });
