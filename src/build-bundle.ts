/** Builds the workflow bundle that workers load: `npm run build`. A worker that bundles at start takes a second more. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from './platform/temporal/workflow-bundle.ts';

const BUNDLE = fileURLToPath(new URL('../dist/workflow-bundle.js', import.meta.url));

const { code } = await bundleWorkflows();
await mkdir(dirname(BUNDLE), { recursive: true });
// Renamed when whole: a worker that starts meanwhile reads the old bundle or the new one, never half of one.
const unfinished = `${BUNDLE}.${process.pid}`;
await writeFile(unfinished, code);
await rename(unfinished, BUNDLE);
