/** Decides which query goes first when there are more queries than connections. */
import { AsyncLocalStorage } from 'node:async_hooks';

const urgent = new AsyncLocalStorage<true>();

export const isUrgent = (): boolean => urgent.getStore() === true;

/**
 * Marks work that somebody waits for: its queries get the next free connection, before those of the pipelines that run
 * by themselves. Otherwise, with many pipelines and one connection, a request would wait for all of them again at each
 * of its queries.
 */
export const urgently = <T>(work: () => T): T => urgent.run(true, work);
