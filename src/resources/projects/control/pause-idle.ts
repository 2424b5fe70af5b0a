/**
 * Pauses a project whose failed phases stand in the way of all the others, because a person has to do something about
 * them.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { isDone, isInFlight, type TaskStatus } from '../model.ts';
import { pauseLocked, standing } from '../store/record.ts';
import { runCommand } from './run-command.ts';

/** Does nothing unless the project is active, some phase failed, and none is under way or could be. */
export const pauseIdle = (db: Database, { projectId }: { projectId: string }): ReturnType<typeof standing> =>
  runCommand(db, { projectId }, async (project) => {
    const phases = await db.rows<{ slug: string; status: TaskStatus; dependsOn: string[] }>(sql`
      select phase_slug as slug, status, depends_on as "dependsOn" from tasks
      where project_id = ${projectId} order by position`);
    const done = new Set(phases.filter(({ status }) => isDone(status)).map(({ slug }) => slug));
    const failed = phases.filter(({ status }) => status === 'failed').map(({ slug }) => slug);
    const canGoOn = phases.some(
      ({ status, dependsOn }) =>
        isInFlight(status) || (status === 'pending' && dependsOn.every((slug) => done.has(slug))),
    );
    if (project.status === 'active' && failed.length > 0 && !canGoOn) {
      await pauseLocked(db, project, 'nothing_dispatchable', { failed_phases: failed });
    }
    return standing(db, project);
  });
