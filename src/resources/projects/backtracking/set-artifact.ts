/** Makes a content that a person approved the current artifact of a phase, inside a command's transaction. */
import { sql } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import { findValueProblem } from '../../../platform/core/schema-checks.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { JsonSchema } from '../../templates/model.ts';
import { insertVersion } from '../engine/promote.ts';
import { noteProjectEvents, type LockedProject } from '../store/record.ts';
import { cascadeFrom, settleByHand, type Phase } from './backtrack.ts';
import type { Applied, Enactment } from '../edit-plans/enactment.ts';

export async function setArtifact(
  db: Database,
  project: LockedProject,
  { subtaskId, cascade, actor }: Enactment,
  { phases, phase, content }: { phases: readonly Phase[]; phase: Phase; content: unknown },
): Promise<Applied> {
  const { taskId, slug } = phase;
  const form = first(
    await db.rows<{ isArtifact: boolean; schema: JsonSchema | null }>(sql`
    select artifact_step_slug is not null as "isArtifact", artifact_json_schema as schema
    from tasks where id = ${taskId}::uuid`),
  );
  if (!form.isArtifact) return 'the phase makes no artifact';
  if (phase.status === 'pending') return 'the phase is to run and will make its artifact itself';
  if (content === undefined || content === null) return 'it has no content';
  const problem = form.schema ? await findValueProblem(form.schema, content, 'content') : undefined;
  if (problem) return problem;

  const { id, version } = await insertVersion(db, taskId, {
    content: sql`${JSON.stringify(content)}::jsonb`,
    subtaskId,
    attemptId: null,
    via: 'edit_session',
    changedBy: actor.id,
  });
  const told = { artifact_id: id, version };
  const about = { taskId, subtaskId, actor, payload: { phase_slug: slug, ...told } };
  await noteProjectEvents(db, project, [{ topic: 'artifact_set_manually', ...about }]);
  const settled = await settleByHand(db, project, phase, actor);
  const { plan, changes } = await cascadeFrom(db, project, { phases, changed: slug, version, cascade, actor });
  return {
    told: { ...told, marked_stale: plan.markStale, auto_retriggered: plan.rerun },
    changes: [...settled, ...changes],
  };
}
