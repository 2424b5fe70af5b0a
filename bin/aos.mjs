#!/usr/bin/env node
/**
 * Runs `aos`, the command line, on the pinned Node, whatever Node the machine has. It sets everything up first where
 * the command starts the service, and where the packages are missing or belong to another version, as after a `git
 * pull`.
 */
import { fileURLToPath } from 'node:url';
import { quickStart } from '../src/embedded/quick-start.mjs';
import { runInstead } from '../src/embedded/run-instead.mjs';
import { packages, PINNED_NODE } from '../src/embedded/setup-steps.mjs';

const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const args = process.argv.slice(2);
const isReady = !['start', 'demo'].includes(args[0]) && packages.isCurrent();

const command = isReady
  ? [PINNED_NODE, inRoot('src/cli.ts'), ...args]
  : [process.execPath, inRoot('src/embedded/setup.mjs'), '--', 'node', inRoot('src/cli.ts'), ...args];
await runInstead(command[0], command.slice(1), { ...process.env, ...quickStart(process.env) });
