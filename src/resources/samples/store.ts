/** Finds which step of a sample a run works on. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import type { SamplePlace } from './library.ts';

export type SampleStore = ReturnType<typeof createSampleStore>;

export const createSampleStore = (db: Database) => ({
  /** @returns undefined unless the attempt belongs to a project that was started from a sample */
  async findPlace(customerId: string, attemptId: string): Promise<SamplePlace | undefined> {
    const [place] = await db.rows<SamplePlace>(sql`
      select p.workflow_slug as workflow, t.phase_slug as phase, s.step_slug as step,
        1 + (select count(*) from attempts e where e.subtask_id = s.id and e.status = 'succeeded')::int as take
      from attempts a join subtasks s on s.id = a.subtask_id join tasks t on t.id = a.task_id
        join projects p on p.id = a.project_id
      where a.id = ${attemptId}::uuid and a.customer_id = ${customerId} and p.is_sample`);
    return place;
  },
});
