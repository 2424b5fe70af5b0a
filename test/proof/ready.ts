/** Whether a process of the service says that it reaches what it needs. */
import { setTimeout as wait } from 'node:timers/promises';

/** @returns whether it said so within that time */
export async function isReadyWithin(ms: number, url: string): Promise<boolean> {
  for (const deadline = Date.now() + ms; Date.now() < deadline; await wait(100)) {
    const isReady = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
      async (response) => (await response.text(), response.ok),
      () => false,
    );
    if (isReady) return true;
  }
  return false;
}
