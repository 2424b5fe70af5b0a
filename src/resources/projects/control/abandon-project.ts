/** Ends a project that nobody wants to go on. What it made stays. */
import { sql } from 'drizzle-orm';
import { Problem } from '../../../platform/core/problem.ts';
import type { Database } from '../../../platform/db/client.ts';
import { isTerminal, type Actor, type PhaseChange, type Seen } from '../model.ts';
import { noteProjectEvents } from '../store/record.ts';
import { nameOf, requireSeen, settleWait } from '../store/waits.ts';
import { runCommand } from './run-command.ts';
import { OPEN_ATTEMPT, OPEN_TASK } from '../store/statuses.ts';

/** @throws Problem not_found, project_ended, already_answered, changed_since */
export const abandonProject = (
  db: Database,
  {
    projectId,
    actor,
    commandId,
    seen,
  }: { projectId: string; actor: Actor; commandId: string; seen?: Seen | undefined },
): Promise<{ changes: PhaseChange[] }> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    await requireSeen(db, project, projectId, seen);
    if (isTerminal(project.status)) {
      throw new Problem('project_ended', `the project is ${project.status}`);
    }
    const answer = { answer: 'abandon', by: nameOf(actor), via: seen?.via ?? ('elsewhere' as const) };
    await db.rows(sql`
      with answered as (${settleWait(projectId, project, answer)})
      update projects set status = 'abandoned', pause_reason = null, paused_at = null, abandoned_at = now() where id = ${projectId}`);
    await db.rows(sql`
      update attempts set status = 'failed', error = 'the project was abandoned', completed_at = now()
      where project_id = ${projectId} and status in ${OPEN_ATTEMPT}`);
    await db.rows(sql`
      update subtasks set status = 'skipped', completed_at = now()
      where project_id = ${projectId} and status in ${OPEN_TASK}`);
    const skipped = await db.rows<{ id: string; slug: string }>(sql`
      update tasks set status = 'skipped', completed_at = now(), on_end = null
      where project_id = ${projectId} and status in ${OPEN_TASK}
      returning id, phase_slug as slug`);
    await noteProjectEvents(
      db,
      project,
      skipped.map(({ id, slug }) => ({
        topic: 'task_skipped',
        taskId: id,
        actor,
        payload: { phase_slug: slug, reason: 'abandoned' },
      })),
    );
    return { changes: skipped.map(({ slug }) => ({ slug, status: 'skipped' })) };
  });
