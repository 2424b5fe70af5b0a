/** Builds the workflow bundle that workers load: `npm run build`. A worker that bundles at start takes a second more. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows, sealedBundle } from './platform/temporal/workflow-bundle.ts';

const BUNDLE = fileURLToPath(new URL('../dist/workflow-bundle.js', import.meta.url));

await build(BUNDLE, { isSealed: false });
// Deployments with a payload codec need this one. A worker that finds none bundles at start, and must not find an
// outdated one.
if (process.argv.includes('--sealed')) await build(sealedBundle(BUNDLE), { isSealed: true });
else await rm(sealedBundle(BUNDLE), { force: true });

async function build(path: string, options: { isSealed: boolean }): Promise<void> {
  const { code } = await bundleWorkflows(options);
  await mkdir(dirname(path), { recursive: true });
  // The file is renamed when it is whole: a worker that starts meanwhile reads the old bundle or the new one, never
  // half of one.
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, code);
  await rename(unfinished, path);
}
