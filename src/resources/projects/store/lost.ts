/** Projects under way by their rows, of which nobody knows whether anything still works on them. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { pauseLocked } from './record.ts';
import { runCommand } from './commands/command.ts';

export interface CheckedProject {
  id: string;
  /** In the hands of a workflow of their own. */
  phases: { slug: string; taskId: string; iteration: number }[];
}

/** Takes the ones that were not asked about for that long, over all workspaces; they are then young again. */
export const claimUnchecked = (db: Database, olderThanMs: number, limit: number) =>
  db.rows<CheckedProject>(sql`
    with claimed as (
      update projects set checked_at = now() where id in (
        select id from projects
        where status in ('planning', 'active') and checked_at < now() - make_interval(secs => ${olderThanMs / 1_000})
        order by checked_at limit ${limit} for update skip locked)
      returning id
    )
    select p.id, (
      select coalesce(jsonb_agg(jsonb_build_object('slug', t.phase_slug, 'taskId', t.id, 'iteration', t.iteration)), '[]')
      from tasks t where t.project_id = p.id and t.status in ('running', 'blocked', 'review')) as phases
    from claimed p`);

/** Somebody ended its workflow by hand. Whether it is to go on is for a person to say, who then has the reason. */
export const pauseEnded = (db: Database, projectId: string, how: string): Promise<void> =>
  runCommand(db, { projectId }, (project) =>
    pauseLocked(db, project, 'nothing_dispatchable', { workflow: how, hint: 'resume it to go on from its record' }),
  );
