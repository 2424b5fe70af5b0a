/** How much memory the service may take, and what is said where that was not enough. It imports no package, as set-up runs before they exist. */
import { totalmem } from 'node:os';

const MB = 1_024 ** 2;
/** With less the system ends a part of the service under a small load: `test/embedded/little-memory.e2e.test.ts`. */
export const LEAST_MEMORY = 768 * MB;
/** Below, memory is worth more than speed. V8 alone takes 600 MB for three seconds to optimise the parser of Postgres. */
const AMPLE_MEMORY = 1_536 * MB;

/** Gives the bytes that all processes of the service may take together: those of its cgroup, else of the machine. */
export const memoryLimit = () => Math.min(process.constrainedMemory?.() || Infinity, totalmem());

export const isMemoryLittle = () => memoryLimit() < AMPLE_MEMORY;

export const inMB = (bytes) => `${Math.round(bytes / MB)} MB`;

/** Says in one line why a process has ended that nobody of ours stopped. */
export const killedLine = (what) =>
  `${what} was killed (SIGKILL), most likely because memory ran out: ${inMB(memoryLimit())} are here, and the service needs ` +
  `${inMB(LEAST_MEMORY)} or more; give it more`;
