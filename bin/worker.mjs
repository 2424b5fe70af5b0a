#!/usr/bin/env node
/** Runs the worker process on the pinned Node, whatever Node the machine has. */
import { runPart } from '../src/embedded/run-part.mjs';

await runPart('src/worker.ts');
