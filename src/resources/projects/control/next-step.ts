/** Finds the step that `run-step` runs: the first in pipeline order that could begin if the project were not paused. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { PHASES_BEFORE_ARE_DONE, stepsBeforeAreDone } from '../store/ready.ts';
import { runCommand } from './run-command.ts';
import { IN_FLIGHT } from '../store/statuses.ts';

export interface NextStep {
  subtaskId: string;
  taskId: string;
  phaseSlug: string;
}

/** @returns null also where the project is not paused, as its steps then begin by themselves */
export const nextStep = (db: Database, { projectId }: { projectId: string }): Promise<NextStep | null> =>
  runCommand(db, { projectId }, async () => {
    const [step] = await db.rows<NextStep>(sql`
      select s.id as "subtaskId", t.id as "taskId", t.phase_slug as "phaseSlug"
      from projects p join tasks t on t.project_id = p.id join subtasks s on s.task_id = t.id
      where p.id = ${projectId} and p.status = 'paused' and s.status = 'pending'
        and (t.status in ${IN_FLIGHT} or (t.status = 'pending' and ${PHASES_BEFORE_ARE_DONE}))
        and ${stepsBeforeAreDone()}
        and not exists (select 1 from attempts a where a.subtask_id = s.id and a.status = 'running')
      order by t.position, s.position limit 1`);
    return step ?? null;
  });
