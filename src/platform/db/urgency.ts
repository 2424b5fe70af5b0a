/** Whose turn it is when there are more queries than connections. */
import { AsyncLocalStorage } from 'node:async_hooks';

const urgent = new AsyncLocalStorage<true>();

export const isUrgent = (): boolean => urgent.getStore() === true;

/**
 * Work that somebody waits for: its queries get the next free connection, before those of the pipelines that run by
 * themselves. With many of those and one connection, a request would wait for all of them again with each query.
 */
export const urgently = <T>(work: () => T): T => urgent.run(true, work);
