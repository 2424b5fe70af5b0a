/** Bundles of the workflow code for the workers of tests. */
import { DefaultLogger, type BundleOptions, type WorkflowBundle } from '@temporalio/worker';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as bundling from '../../../src/platform/temporal/workflow-bundle.ts';
import { inCache, makeOnce } from '../programs/make-once.ts';

/** Set-up, with which tests and proofs begin, makes it anew when a workflow has changed. */
export const BUNDLE = fileURLToPath(new URL('../../../dist/workflow-bundle.js', import.meta.url));

let code: Promise<string> | undefined;

/** That of the product. */
export const bundleWorkflows = async (): Promise<WorkflowBundle> => ({
  code: await (code ??= readFile(BUNDLE, 'utf8')),
});

/** Of the workflows in one file, which imports nothing of ours. */
export const bundleOfFile = async (workflowsPath: string): Promise<WorkflowBundle> => ({
  code: await readFile(await kept(basename(workflowsPath, '.ts'), [workflowsPath], { workflowsPath }), 'utf8'),
});

/** That of the product, for workers on which a day takes a second (`scaled-time.ts`). No worker of the product has it. */
export const bundleHurriedWorkflows = async (): Promise<WorkflowBundle> => {
  const workflowInterceptorModules = ['../../../workflows/shared/trace-carrier.ts', './scaled-time.ts'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return {
    code: await readFile(await kept('hurried', workflowInterceptorModules, { workflowInterceptorModules }), 'utf8'),
  };
};

/** For `WORKER_BUNDLE` of a service with a payload codec: beside it lies the one that its workers load. */
export const sealedBundle = async (): Promise<string> => {
  const codec = globSync(fileURLToPath(new URL('../../../src/platform/{core,temporal}/*.ts', import.meta.url)));
  const path = await kept('sealed', codec.sort(), {}, { isSealed: true });
  return join(path, '..', 'bundle.js');
};

/**
 * Bundling takes ten seconds of CPU, so it is done once for each version of the code, of which that of the product has
 * the sources in it.
 * @param sources what goes into it beside the code of the product
 */
async function kept(
  name: string,
  sources: readonly string[],
  options: Partial<BundleOptions>,
  { isSealed = false } = {},
): Promise<string> {
  const hash = createHash('sha256').update(await (code ??= readFile(BUNDLE, 'utf8')));
  for (const path of sources) hash.update(await readFile(path));
  const folder = inCache('bundles', `${name}-${hash.digest('hex').slice(0, 16)}`);
  await makeOnce(folder, async (unfinished) => {
    const made = await bundling.bundleWorkflows({ isSealed }, { ...options, logger: new DefaultLogger('WARN') });
    const olds = globSync(inCache('bundles', `${name}-*`)).filter((path) => !path.startsWith(folder));
    for (const old of olds) await rm(old, { recursive: true, force: true });
    await mkdir(unfinished);
    await writeFile(join(unfinished, isSealed ? 'bundle.sealed.js' : 'bundle.js'), made.code);
  });
  return join(folder, isSealed ? 'bundle.sealed.js' : 'bundle.js');
}
