/** Reads projects that are under way by their rows, where it is not known whether a workflow still works on them. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { behindOf, makeAllDue, takeDue, type ClaimQueue, type Taken, type Turn } from '../../../platform/db/in-turn.ts';
import { START_AGAIN_MS } from '../../../platform/temporal/starting.ts';
import { PHASES_BEFORE_ARE_DONE, stepsBeforeAreDone } from './ready.ts';
import { DONE, GOING_PROJECT, IN_FLIGHT } from './statuses.ts';

export interface CheckedProject {
  id: string;
  /** The phases that are in the hands of a workflow of their own; of an abandoned project, that once were. */
  phases: { slug: string; taskId: string; iteration: number }[];
  /**
   * Says that the project is active, and that for a minute no step has run, waited for an answer or ended; or that
   * something could begin or end which nobody has begun or ended.
   */
  isStanding: boolean;
  isAbandoned: boolean;
}

const UNSTARTED: ClaimQueue = {
  table: 'projects',
  at: 'start_due_at',
  open: sql`status = 'planning' and start_due_at is not null`,
};

/** Takes projects of all workspaces that were accepted and are not known to be started. */
export const takeUnstarted = (db: Database, turn: Turn): Promise<Taken> => takeDue(db, UNSTARTED, turn, START_AGAIN_MS);

export const loadUnstarted = (db: Database, ids: readonly string[]) =>
  db.rows<{ id: string }>(sql`
    select id from projects where id = any(${sql.param([...ids])}::text[]) and status = 'planning' order by seq`);

/** Notes that Temporal has these projects. */
export const noteStarted = (db: Database, ids: readonly string[]) =>
  db.rows(sql`
    update projects set start_due_at = null
    where id = any(${sql.param([...ids])}::text[]) and status = 'planning' and start_due_at is not null`);

/** Asks about a project again in the next round. */
export const askAgain = (db: Database, id: string) =>
  db.rows(
    sql`update projects set checked_at = abandoned_at - interval '1 ms' where id = ${id} and status = 'abandoned'`,
  );

const underWay = (olderThanMs: number): ClaimQueue => ({
  table: 'projects',
  at: 'checked_at',
  lateMs: olderThanMs,
  // An abandoned project is asked about once more: its workflow may not know.
  open: sql`(status in ${GOING_PROJECT} or checked_at < abandoned_at)`,
});

/**
 * Takes the projects of all workspaces about which Temporal was not asked for that long. Taking one counts as asking.
 */
export const takeUnchecked = (db: Database, turn: Turn, olderThanMs: number): Promise<Taken> =>
  takeDue(db, underWay(olderThanMs), turn, 0);

/** Makes Temporal be asked in the next round about all of them. */
export const askAboutAll = (db: Database, olderThanMs: number) => makeAllDue(db, underWay(olderThanMs));

export const loadChecked = (db: Database, ids: readonly string[]) =>
  db.rows<CheckedProject>(sql`
    select p.id, (
      select coalesce(jsonb_agg(jsonb_build_object('slug', t.phase_slug, 'taskId', t.id, 'iteration', t.iteration)), '[]')
      from tasks t where t.project_id = p.id
        and case when p.status = 'abandoned' then t.iteration > 0 else t.status in ${IN_FLIGHT} end) as phases,
      p.status = 'abandoned' as "isAbandoned",
      p.status = 'active' and (exists (
        select 1 from tasks t where t.project_id = p.id and (
          (t.status = 'pending' and ${PHASES_BEFORE_ARE_DONE})
          or (t.status in ${IN_FLIGHT} and (
            not exists (select 1 from subtasks s where s.task_id = t.id and s.status not in ${DONE})
            or exists (
              select 1 from subtasks s where s.task_id = t.id and s.status = 'pending' and ${stepsBeforeAreDone()}))))
      ) or not exists (
        select 1 from attempts a where a.project_id = p.id and a.status = 'running'
      ) and not exists (
        select 1 from subtasks s where s.project_id = p.id and s.status = 'blocked'
      ) and not exists (
        select 1 from project_events e where e.project_id = p.id and e.ts > now() - interval '1 minute'
      )) as "isStanding"
    from projects p where p.id = any(${sql.param([...ids])}::text[])`);

/** Measures what housekeeping of projects has yet to do, by chore. */
export const projectsBehind = (olderThanMs: number) => ({
  startProjects: behindOf(UNSTARTED),
  settleProjects: behindOf(underWay(olderThanMs)),
});
