/**
 * Lets a person make an earlier version of a phase's artifact the current one again. Later versions stay in history.
 */
import { sql } from 'drizzle-orm';
import type { RevertResult } from '../../../../workflows/project/messages.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { isInFlight, type Actor, type Cascade, type PhaseChange } from '../model.ts';
import { noteProjectEvents } from '../store/record.ts';
import { cascadeFrom, listPhases, settleByHand } from './backtrack.ts';
import { refuseAbandoned, reopen, runCommand } from '../control/run-command.ts';

export interface RevertArgs {
  projectId: string;
  phaseSlug: string;
  targetVersion: number;
  cascade: Cascade;
  reason: string | null;
  actor: Actor;
  commandId: string;
}

/** @throws Problem not_found, project_ended, phase_in_flight, already_current */
export const revertArtifact = (
  db: Database,
  { projectId, phaseSlug, targetVersion, cascade, reason, actor, commandId }: RevertArgs,
): Promise<RevertResult & { changes: PhaseChange[] }> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    const phases = await listPhases(db, projectId);
    const phase = found(phases.find(({ slug }) => slug === phaseSlug));
    const target = found(await findVersion(db, phase.taskId, targetVersion));
    refuseAbandoned(project);
    if (isInFlight(phase.status)) throw new Problem('phase_in_flight', `the phase is ${phase.status}`);
    // An earlier version of a failed phase can be chosen even if it is the current one, because the failure was in
    // making another.
    if (!target.superseded && phase.status !== 'failed') {
      throw new Problem('already_current', `version ${targetVersion} is the current one`);
    }

    await reopen(db, project, actor);
    // There are two statements, because the index that allows one current version looks at each row as it is written.
    const [before] = await db.rows<{ version: number }>(sql`
      update artifacts set superseded = true, superseded_by_artifact_id = ${target.id}::uuid
      where task_id = ${phase.taskId}::uuid and not superseded and id <> ${target.id}::uuid returning version`);
    await db.rows(sql`
      update artifacts set superseded = false, superseded_by_artifact_id = null, changed_by = ${actor.id ?? null}
      where id = ${target.id}::uuid`);
    const payload = {
      phase_slug: phaseSlug,
      from_version: before?.version ?? targetVersion,
      to_version: targetVersion,
      reason,
    };
    await noteProjectEvents(db, project, [{ topic: 'artifact_reverted', taskId: phase.taskId, actor, payload }]);
    const settled = await settleByHand(db, project, phase, actor);
    // A phase that consumed the version which stays current has nothing new to consume.
    const { plan, changes } = before
      ? await cascadeFrom(db, project, { phases, changed: phaseSlug, version: targetVersion, cascade, actor })
      : { plan: { affected: [], markStale: [], rerun: [] }, changes: [] };
    return {
      artifactId: target.id,
      cascade,
      affected_phase_slugs: plan.affected,
      marked_stale: plan.markStale,
      auto_retriggered: plan.rerun,
      changes: [...settled, ...changes],
    };
  });

async function findVersion(db: Database, taskId: string, version: number) {
  const [artifact] = await db.rows<{ id: string; superseded: boolean }>(sql`
    select id, superseded from artifacts where task_id = ${taskId}::uuid and version = ${version}::numeric`);
  return artifact;
}
