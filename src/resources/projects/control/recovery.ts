/** Recovers phases that look under way although nobody works on them any more. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { EffectOf, PhaseChange } from '../model.ts';
import type { LockedProject } from '../store/record.ts';
import { effectOfAttempt, recordCrash } from '../engine/crashes.ts';
import { IN_FLIGHT } from '../store/statuses.ts';

export interface Recovery {
  /** The number of attempts that died and whose step is pending again. */
  again: number;
  /** The number of attempts that died and whose step had died too often already. */
  repeated: number;
  changes: PhaseChange[];
}

/**
 * Makes the steps of these phases pending again, or failed where a person has to decide, and updates the phases. Gates
 * open anew.
 */
export async function recoverTasks(
  db: Database,
  project: LockedProject,
  taskIds: readonly string[],
  effectOf: EffectOf,
): Promise<Recovery> {
  const recovery: Recovery = { again: 0, repeated: 0, changes: [] };
  if (taskIds.length === 0) return recovery;
  const ids = sql`${sql.param([...taskIds])}::uuid[]`;
  const running = await db.rows<{ id: string }>(sql`
    select id from attempts where task_id = any(${ids}) and status = 'running' order by created_at, id`);
  for (const { id } of running) {
    const effect = await effectOfAttempt(db, id, effectOf);
    const verdict = await recordCrash(db, project, id, effect);
    if (verdict === 'again') recovery.again += 1;
    else if (effect !== 'irreversible') recovery.repeated += 1;
  }
  await db.rows(sql`
    update subtasks s set status = 'pending'
    where s.task_id = any(${ids}) and s.status in ${IN_FLIGHT}`);
  recovery.changes = await db.rows<PhaseChange>(sql`
    with dead as (
      select t.id, exists (select 1 from subtasks s where s.task_id = t.id and s.status = 'failed') as is_failed
      from tasks t where t.id = any(${ids}) and t.status in ${IN_FLIGHT}
    )
    update tasks t set status = (case when d.is_failed then 'failed' else 'pending' end)::task_status,
      completed_at = case when d.is_failed then now() end
    from dead d where t.id = d.id
    returning t.phase_slug as slug, t.status`);
  return recovery;
}
