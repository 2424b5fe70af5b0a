/** What workers run workflows from: their code in one piece, as it is now. */
import { bundleWorkflowCode, type BundleOptions, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { FAILURE_CONVERTER } from './payload-codec.ts';

const inWorkflows = (path: string): string => fileURLToPath(new URL(`../../../workflows/${path}`, import.meta.url));

/** @param isSealed for workers with a payload codec: texts of errors are payloads too */
export const bundleWorkflows = (
  { isSealed = false }: { isSealed?: boolean } = {},
  options: Partial<BundleOptions> = {},
): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({
    workflowsPath: inWorkflows('index.ts'),
    payloadConverterPath: inWorkflows('shared/payload-converter.ts'),
    workflowInterceptorModules: [inWorkflows('shared/trace-carrier.ts')],
    ...(isSealed && { failureConverterPath: FAILURE_CONVERTER }),
    ...options,
  });

/** Where the bundle for workers with a payload codec is, beside the other. */
export const sealedBundle = (path: string): string => path.replace(/(\.\w+)$/, '.sealed$1');
