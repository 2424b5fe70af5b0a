/**
 * Recovers a phase whose workflow is gone and did not record how the phase ended, for example because an operator
 * terminated it.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import {
  isInFlight,
  type EffectOf,
  type Pause,
  type PhaseChange,
  type PhaseRef,
  type ProjectStatus,
  type TaskStatus,
} from '../model.ts';
import { standing } from '../store/record.ts';
import { runCommand } from './run-command.ts';
import { recoverTasks } from './recovery.ts';

/** @returns where the phase stands now; undefined where a later start of it has taken over */
export const recoverPhase = (
  db: Database,
  { projectId, taskId, iteration, effectOf }: PhaseRef & { effectOf: EffectOf },
): Promise<{ changes: PhaseChange[]; projectStatus: ProjectStatus; pause?: Pause }> =>
  runCommand(db, { projectId }, async (project) => {
    const [task] = await db.rows<{ slug: string; status: TaskStatus; iteration: number }>(sql`
      select phase_slug as slug, status, iteration from tasks
      where id = ${taskId}::uuid and project_id = ${projectId}`);
    const now = async (changes: PhaseChange[]) => {
      const { status: projectStatus, ...pause } = await standing(db, project);
      return { changes, projectStatus, ...pause };
    };
    if (!task || task.iteration > iteration) return now([]);
    // The phase had ended, or had not begun.
    if (!isInFlight(task.status)) return now([{ slug: task.slug, status: task.status }]);
    if (task.iteration !== iteration) return now([]);
    return now((await recoverTasks(db, project, [taskId], effectOf)).changes);
  });
