/** Writes artifacts as append-only versions, of which exactly one is current. */
import { sql, type SQL } from 'drizzle-orm';
import { newUuid } from '../../../platform/core/ids.ts';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { ProducedVia } from '../model.ts';
import type { NewProjectEvent } from '../store/record.ts';

/** What a phase that ends would make its artifact, and which version is current. */
export interface Promotable {
  /** Null where the phase makes no artifact, or has made it from this attempt already. */
  made: { attemptId: string; subtaskId: string; reason: ProducedVia } | null;
  currentId: string | null;
  nextVersion: number;
  schemaSlug: string;
}

/**
 * Columns of a task `t`. The output of one attempt becomes one version, however often the phase is closed with it.
 * @param succeeding names an attempt that counts as one that has succeeded already
 */
export const promotable = (succeeding: string | null): SQL => sql`
  (select case when not exists (select 1 from artifacts v where v.produced_by_attempt_id = newest.id)
      then jsonb_build_object('attemptId', newest.id, 'subtaskId', newest.subtask_id, 'reason', newest.attempt_reason) end
    from (
      select a.id, a.subtask_id, a.attempt_reason from subtasks s join attempts a on a.subtask_id = s.id
      where s.task_id = t.id and s.step_slug = t.artifact_step_slug
        and (a.status = 'succeeded' or a.id = ${succeeding}::uuid)
      order by a.attempt_number desc limit 1) newest) as made,
  (select v.id from artifacts v where v.task_id = t.id and not v.superseded) as "currentId",
  (select coalesce(max(v.version), 0) + 1 from artifacts v where v.task_id = t.id) as "nextVersion",
  coalesce(t.artifact_schema_slug, t.phase_slug) as "schemaSlug"`;

interface Promotion {
  /** The part of a statement that inserts the version. */
  insert: SQL;
  event: NewProjectEvent;
  version: { artifact_id: string; version: number };
}

export const outputOf = (attemptId: string): SQL => sql`(select output from attempts where id = ${attemptId}::uuid)`;

/** Prepares that the output of the phase's artifact step becomes its current artifact. */
export async function promote(
  db: Database,
  task: Promotable & { id: string; phaseSlug: string },
  take = outputOf,
): Promise<Promotion | undefined> {
  const { made, currentId, nextVersion: version, schemaSlug: schema_slug } = task;
  if (!made) return undefined;
  const id = newUuid();
  if (currentId !== null) await supersede(db, task.id, id);
  const { attemptId, subtaskId, reason: via } = made;
  const payload = { phase_slug: task.phaseSlug, artifact_id: id, version, schema_slug, via };
  return {
    insert: insertAs(id, task.id, { content: take(attemptId), subtaskId, attemptId, via, supersedes: currentId }),
    event: { topic: 'artifact_promoted', taskId: task.id, subtaskId, payload },
    version: { artifact_id: id, version },
  };
}

interface NewVersion {
  /** An SQL expression that gives a JSON value. */
  content: SQL;
  subtaskId: string;
  attemptId: string | null;
  via: ProducedVia;
  /** Set where a person made it. */
  changedBy?: string | null;
}

/** Appends the next version of a phase's artifact, and makes it the current one. */
export async function insertVersion(
  db: Database,
  taskId: string,
  made: NewVersion,
): Promise<{ id: string; version: number }> {
  const id = newUuid();
  const supersedes = await supersede(db, taskId, id);
  const rows = await db.rows<{ version: number }>(
    sql`${insertAs(id, taskId, { ...made, supersedes })} returning version`,
  );
  return { id, ...first(rows) };
}

/**
 * It is a statement of its own, because the index that allows one current version looks at each row as it is written.
 * @returns the id of the version that was current
 */
async function supersede(db: Database, taskId: string, by: string): Promise<string | null> {
  const [before] = await db.rows<{ id: string }>(sql`
    update artifacts set superseded = true, superseded_by_artifact_id = ${by}::uuid
    where task_id = ${taskId}::uuid and not superseded returning id`);
  return before?.id ?? null;
}

const insertAs = (
  id: string,
  taskId: string,
  { content, subtaskId, attemptId, via, supersedes, changedBy }: NewVersion & { supersedes: string | null },
): SQL => sql`
  insert into artifacts (id, project_id, task_id, customer_id, phase_slug, version, schema_slug, content,
    produced_by_subtask_id, produced_by_attempt_id, produced_via, supersedes_artifact_id, changed_by)
  select ${id}::uuid, t.project_id, t.id, t.customer_id, t.phase_slug,
    (select coalesce(max(version), 0) + 1 from artifacts where task_id = t.id),
    coalesce(t.artifact_schema_slug, t.phase_slug), ${content}, ${subtaskId}::uuid, ${attemptId}::uuid,
    ${via}::attempt_reason, ${supersedes}::uuid, ${changedBy ?? null}
  from tasks t where t.id = ${taskId}::uuid`;
