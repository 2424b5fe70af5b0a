/** Writes artifacts as append-only versions, of which exactly one is current. */
import { sql, type SQL } from 'drizzle-orm';
import { newUuid } from '../../../../platform/core/ids.ts';
import { first } from '../../../../platform/core/present.ts';
import type { Database } from '../../../../platform/db/client.ts';
import type { ProducedVia } from '../../model.ts';
import { noteProjectEvents, type LockedProject } from '../record.ts';

/**
 * Makes the output of the phase's artifact step its current artifact. The output of one attempt becomes one version,
 * however often the phase is closed with it.
 */
export async function promoteArtifact(
  db: Database,
  project: LockedProject,
  task: { id: string; phaseSlug: string },
): Promise<{ artifact_id: string; version: number } | undefined> {
  const [made] = await db.rows<{ attemptId: string; subtaskId: string; reason: ProducedVia; isPromoted: boolean }>(sql`
    select a.id as "attemptId", a.subtask_id as "subtaskId", a.attempt_reason as reason,
      exists (select 1 from artifacts where produced_by_attempt_id = a.id) as "isPromoted"
    from tasks t
      join subtasks s on s.task_id = t.id and s.step_slug = t.artifact_step_slug
      join attempts a on a.subtask_id = s.id and a.status = 'succeeded'
    where t.id = ${task.id}::uuid order by a.attempt_number desc limit 1`);
  if (!made || made.isPromoted) return undefined;
  const { id, version, schemaSlug } = await insertVersion(db, task.id, {
    content: sql`(select output from attempts where id = ${made.attemptId}::uuid)`,
    subtaskId: made.subtaskId,
    attemptId: made.attemptId,
    via: made.reason,
  });
  await noteProjectEvents(db, project, [
    {
      topic: 'artifact_promoted',
      taskId: task.id,
      subtaskId: made.subtaskId,
      payload: { phase_slug: task.phaseSlug, artifact_id: id, version, schema_slug: schemaSlug, via: made.reason },
    },
  ]);
  return { artifact_id: id, version };
}

interface NewVersion {
  /** An SQL expression that gives a JSON value. */
  content: SQL;
  subtaskId: string;
  attemptId: string | null;
  via: ProducedVia;
}

/** Appends the next version of a phase's artifact, and makes it the current one. */
export async function insertVersion(
  db: Database,
  taskId: string,
  { content, subtaskId, attemptId, via }: NewVersion,
): Promise<{ id: string; version: number; schemaSlug: string }> {
  const id = newUuid();
  // There are two statements, because the index that allows one current version looks at each row as it is written.
  const [before] = await db.rows<{ id: string }>(sql`
    update artifacts set superseded = true, superseded_by_artifact_id = ${id}::uuid
    where task_id = ${taskId}::uuid and not superseded returning id`);
  const artifact = first(
    await db.rows<{ version: number; schemaSlug: string }>(sql`
    insert into artifacts (id, project_id, task_id, customer_id, phase_slug, version, schema_slug, content,
      produced_by_subtask_id, produced_by_attempt_id, produced_via, supersedes_artifact_id)
    select ${id}::uuid, t.project_id, t.id, t.customer_id, t.phase_slug,
      (select coalesce(max(version), 0) + 1 from artifacts where task_id = t.id),
      coalesce(t.artifact_schema_slug, t.phase_slug), ${content}, ${subtaskId}::uuid, ${attemptId}::uuid,
      ${via}::attempt_reason, ${before?.id ?? null}::uuid
    from tasks t where t.id = ${taskId}::uuid
    returning version, schema_slug as "schemaSlug"`),
  );
  return { id, ...artifact };
}
