/** What is looked at while traffic goes on: the most connections and memory there were, and what backends waited for. */
import { sql } from 'drizzle-orm';
import type { Deployment } from '../../support/processes/deployment.ts';
import { connectionsOf, memoryByProcess } from './usage.ts';

export interface Seen {
  connections: number;
  /** Megabytes by process, the most. */
  memory: Record<string, number>;
  /** How often a backend of the service was seen waiting, by event; `CPU` where it was working. */
  waits: Record<string, number>;
}

const EVERY_MS = 1_000;
/** Reading the maps of large processes costs them time. */
const MEMORY_EVERY = 10;

/** @returns what was seen since; stops looking */
export function watch(deployment: Deployment): () => Promise<Seen> {
  const seen: Seen = { connections: 0, memory: {}, waits: {} };
  let looks = 0;
  let looking: Promise<void> | undefined;
  const look = async () => {
    seen.connections = Math.max(seen.connections, await connectionsOf(deployment));
    const waits = await deployment.db.rows<{ event: string; count: number }>(sql`
      select coalesce(wait_event, 'CPU') as event, count(*)::int as count from pg_stat_activity
      where application_name = 'agent-orchestration-service' and state <> 'idle' and pid <> pg_backend_pid()
      group by 1`);
    for (const { event, count } of waits) seen.waits[event] = (seen.waits[event] ?? 0) + count;
    if (looks++ % MEMORY_EVERY > 0) return;
    for (const [name, megabytes] of Object.entries(memoryByProcess(deployment))) {
      seen.memory[name] = Math.max(seen.memory[name] ?? 0, megabytes);
    }
  };
  const timer = setInterval(() => {
    looking ??= look().finally(() => (looking = undefined));
  }, EVERY_MS);
  return async () => {
    clearInterval(timer);
    await looking;
    return seen;
  };
}
