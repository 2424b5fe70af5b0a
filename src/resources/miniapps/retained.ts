/** What of these tables is deleted when it is old. */
import { sql, type SQL } from 'drizzle-orm';
import { counting, time, type Retained } from '../../platform/db/retained.ts';
import { deletingOfEndedRuns } from '../runs/store/ended.ts';

export const miniappsRetained: Retained = {
  run_details: [
    // Pages go before the calls that they belong to, and not while a person may still open them.
    (before, limit) =>
      counting(deletingOfEndedRuns('miniapp_pages', before, limit, sql`and d.expires_at < ${time(before)}`)),
  ],
};

/** Whether a run still has a page. */
export const hasPage = (runId: SQL): SQL => sql`exists (select 1 from miniapp_pages p where p.run_id = ${runId})`;
