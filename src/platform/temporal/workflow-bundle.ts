/** Makes what workers run workflows from: the code of all workflows in one piece. */
import { bundleWorkflowCode, type BundleOptions, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { FAILURE_CONVERTER } from './payload-codec.ts';

const inWorkflows = (path: string): string => fileURLToPath(new URL(`../../../workflows/${path}`, import.meta.url));

/** @param isSealed for workers with a payload codec, whose errors have texts that are payloads too */
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

/** @returns the path of the bundle for workers with a payload codec, which lies beside the other */
export const sealedBundle = (path: string): string => path.replace(/(\.\w+)$/, '.sealed$1');
