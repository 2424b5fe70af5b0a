/** Moves a project from planning to active when its workflow begins. */
import { sql } from 'drizzle-orm';
import { urgently, type Database } from '../../../platform/db/client.ts';
import { SYSTEM, type ProjectStatus } from '../model.ts';
import { insertEvents } from '../store/record.ts';
import { activate, runCommand } from './run-command.ts';

/**
 * Nearly always nothing has happened to the project yet, and one statement does. Anything else is looked at under its
 * lock.
 */
export async function startProject(
  db: Database,
  { projectId }: { projectId: string },
): Promise<{ status: ProjectStatus }> {
  const [started] = await urgently(() =>
    db.rows<{ status: ProjectStatus }>(sql`
      with started as (
        update projects set status = 'active', started_at = now() where id = ${projectId} and status = 'planning'
        returning id, customer_id, status, started_by
      ), told as (${insertEvents(sql`started`, [{ topic: 'project_started' }], undefined, sql`of_project.started_by`)})
      select status from started`),
  );
  return (
    started ??
    runCommand(db, { projectId }, async (project) => {
      const { startedBy: id } = project;
      if (project.status === 'planning') await activate(db, project, id === null ? SYSTEM : { kind: 'human', id }, {});
      return { status: project.status };
    })
  );
}
