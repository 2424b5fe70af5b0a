/**
 * Runs one part of the service on a Node that can: the pinned one, else this one where it is new enough. It may be run by
 * any Node >= 20 before a single package exists, so nothing here may import one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { quickStart } from './quick-start.mjs';
import { runInstead } from './run-instead.mjs';

const inRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const PINNED_NODE = inRoot('node_modules/.bin/node');

/** @param part a file below the root, such as `src/api.ts` */
export async function runPart(part) {
  const needed = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).dependencies.node;
  const major = ([first]) => Number(first);
  const isNewEnough = major(process.versions.node.split('.')) >= major(needed.split('.'));
  if (!existsSync(PINNED_NODE) && !isNewEnough) {
    console.error(
      `Node ${process.versions.node} is too old for ${part}: run \`npm run setup\`, which brings Node ${needed}, or run this with Node ${needed} or newer`,
    );
    process.exitCode = 1;
    return;
  }
  const node = existsSync(PINNED_NODE) ? PINNED_NODE : process.execPath;
  await runInstead(node, [inRoot(part), ...process.argv.slice(2)], { ...process.env, ...quickStart(process.env) });
}
