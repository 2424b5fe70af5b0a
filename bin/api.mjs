#!/usr/bin/env node
/** Runs the API process, which serves the gateway and the control plane on the pinned Node, whatever Node the machine has. */
import { runPart } from '../src/embedded/run-part.mjs';

await runPart('src/api.ts');
