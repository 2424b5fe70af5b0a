/** paused -> active. What died in the meantime is recovered first, and what that came to is told. */
import { sql } from 'drizzle-orm';
import type { RecoverySummary } from '../../../../../workflows/project/messages.ts';
import { Problem } from '../../../../platform/core/problem.ts';
import type { Database } from '../../../../platform/db/client.ts';
import type { Actor, PhaseChange } from '../../model.ts';
import { activate, runCommand } from './command.ts';
import type { EffectOf } from './crashes.ts';
import { recoverTasks } from './recovery.ts';

export interface ResumeArgs {
  projectId: string;
  actor: Actor;
  commandId: string;
  /** Somebody works on these; whatever else looks under way has died. */
  inFlightTaskIds: readonly string[];
  effectOf: EffectOf;
}

/** @throws Problem not_found, project_not_paused */
export const resumeProject = (
  db: Database,
  { projectId, actor, commandId, inFlightTaskIds, effectOf }: ResumeArgs,
): Promise<{ summary: RecoverySummary; changes: PhaseChange[] }> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    if (project.status !== 'paused') throw new Problem('project_not_paused', `the project is ${project.status}`);
    const dead = await db.rows<{ id: string }>(sql`
      select t.id from tasks t
      where t.project_id = ${projectId} and not t.id = any(${sql.param([...inFlightTaskIds])}::uuid[])
        and (t.status in ('running', 'blocked', 'review')
          or exists (select 1 from attempts a where a.task_id = t.id and a.status = 'running'))`);
    const recovery = await recoverTasks(
      db,
      project,
      dead.map(({ id }) => id),
      effectOf,
    );
    const summary: RecoverySummary = {
      crashed_attempts_recovered: recovery.again,
      repeat_crash_failures: recovery.repeated,
      nonidempotent_pauses: await countUnknownOutcomes(db, projectId),
    };
    await activate(db, project, actor, { resumed: true, ...summary });
    return { summary, changes: recovery.changes };
  });

async function countUnknownOutcomes(db: Database, projectId: string): Promise<number> {
  const [row] = await db.rows<{ n: number }>(sql`
    select count(*)::int as n from subtasks
    where project_id = ${projectId} and is_outcome_unknown and status = 'failed'`);
  return row!.n;
}
