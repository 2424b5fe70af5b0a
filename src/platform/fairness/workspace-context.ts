/** Tells which workspace the current request or activity works for. Every pool of the process queues by it. */
import { AsyncLocalStorage } from 'node:async_hooks';

const workspaces = new AsyncLocalStorage<string>();

/** Work of the deployment itself has this name in a queue. */
export const NO_WORKSPACE = '';

/** Returns the id of the customer that the work is for, or `NO_WORKSPACE`. */
export const currentWorkspace = (): string => workspaces.getStore() ?? NO_WORKSPACE;

/** Runs `work` for a workspace: all that it asks of a pool counts as that workspace's. */
export const forWorkspace = <T>(customerId: string, work: () => T): T => workspaces.run(customerId, work);
