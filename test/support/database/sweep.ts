/** Deletes what retention deletes, as if all of it were older than it is kept. */
import { createRetentionStore, STATEMENTS } from '../../../src/resources/retention/store.ts';
import type { Database } from '../../../src/platform/db/client.ts';

/** Deletes the events of runs that have ended, of projects that stand still, and of the log. */
export async function sweepEvents(db: Database): Promise<void> {
  const store = createRetentionStore(db);
  for (const statement of STATEMENTS.events) {
    while ((await store.delete(statement, new Date(Date.now() + 3_600_000), 500)) > 0);
  }
}
