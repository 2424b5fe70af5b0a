/** Opens a gate: it decides what the gate waits for and for how long, and reports a configuration that is wrong. */
import { sql } from 'drizzle-orm';
import { nextRun } from '../../../platform/core/cron.ts';
import { present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { readGateConfig } from '../../templates/gates/contract.ts';
import { describePolicy, momentsOf, type GatePolicy } from '../../templates/gates/model.ts';
import type { GateKind } from '../../templates/model.ts';
import { SYSTEM, type AttemptBeginning, type ProjectStatus } from '../model.ts';
import { insertEvents, noteProjectEvents, pauseLocked, type LockedProject } from '../store/record.ts';
import { shownBy } from './consumed.ts';
import { setTaskStatus } from './open.ts';
import type { StepRow } from './step-row.ts';

type Opening =
  /** A gate waits for a time, until a moment, or for an answer alone. */
  { forMs: number } | { until: Date } | { forAnswer: true } | { passed: string } | { fault: string };

/** @returns what a gate of this configuration waits for now */
async function openingOf(
  db: Database,
  project: LockedProject,
  gateKind: GateKind,
  config: Record<string, unknown>,
): Promise<Opening> {
  switch (gateKind) {
    case 'human':
      return { forAnswer: true };
    case 'webhook':
      return config.expires_in_s === undefined
        ? { forAnswer: true }
        : { forMs: (config.expires_in_s as number) * 1_000 };
    case 'schedule':
      return untilTime(config);
    case 'pipeline_dep':
      return otherProject(db, project, config.project_id as string);
  }
}

function untilTime({ at, delay_s, cron }: { at?: string; delay_s?: number; cron?: string }): Opening {
  if (delay_s !== undefined) return { forMs: delay_s * 1_000 };
  return { until: at === undefined ? present(nextRun(present(cron))) : new Date(at) };
}

async function otherProject(db: Database, { id, customerId }: LockedProject, otherId: string): Promise<Opening> {
  if (otherId === id) return { fault: 'project_id: a project cannot wait for itself' };
  // The completion of the other project locks this row too and then looks for waiting gates, so one of the two always
  // sees the other.
  const [other] = await db.rows<{ status: ProjectStatus }>(sql`
    select status from projects where id = ${otherId} and customer_id = ${customerId} for share`);
  if (!other) return { fault: `project_id: there is no project "${otherId}"` };
  if (other.status === 'abandoned') return { fault: `project_id: "${otherId}" was abandoned` };
  return other.status === 'completed' ? { passed: `project ${otherId} is completed` } : { forAnswer: true };
}

const faultOf = (faults: readonly { path: PropertyKey[]; message: string }[]): Opening => ({
  fault: faults.map(({ path, message }) => [...path, message].join(': ')).join('; '),
});

/**
 * @returns when the gate's time is over, by the clock of the database. A gate that opens again has waited for a part of
 * its time already.
 */
function endOf(opening: Opening, { status, elapsedMs, nowMs }: StepRow): Date | null {
  if ('until' in opening) return opening.until;
  if (!('forMs' in opening)) return null;
  return new Date(nowMs + opening.forMs - (status === 'pending' ? 0 : elapsedMs));
}

/** Moves a gate from pending to blocked, or past it where there is nothing to wait for. A repeat answers the same. */
export async function openGate(db: Database, project: LockedProject, step: StepRow): Promise<AttemptBeginning> {
  const { subtaskId, taskId, gateKind, phaseSlug, stepSlug } = step;
  const about = { taskId, subtaskId };
  const names = { phase_slug: phaseSlug, step_slug: stepSlug, gate_kind: gateKind };
  const kind = present(gateKind);
  const read = readGateConfig(kind, step.gateConfig);
  const opening = 'faults' in read ? faultOf(read.faults) : await openingOf(db, project, kind, read.config);
  if ('fault' in opening) {
    const error = `gate_config: ${opening.fault}`;
    await db.rows(sql`
      update subtasks set status = 'failed', error = ${error}, completed_at = now() where id = ${subtaskId}::uuid`);
    await noteProjectEvents(db, project, [
      { topic: 'gate_misconfigured', ...about, payload: { ...names, error, gate_config: step.gateConfig ?? {} } },
    ]);
    await pauseLocked(db, project, 'gate_misconfigured', { ...names, error });
    return { kind: 'misconfigured' };
  }
  if ('passed' in opening) {
    const output = { decision: 'approved', decided_by: 'system', comment: opening.passed, decided_at: new Date() };
    await db.rows(sql`
      update subtasks s set status = 'succeeded', started_at = now(), completed_at = now(),
        consumed = ${shownBy(sql`s`)}, answered_by = ${JSON.stringify(SYSTEM)}::jsonb, gate_output = ${JSON.stringify(output)}::jsonb
      where id = ${subtaskId}::uuid`);
    await noteProjectEvents(db, project, [{ topic: 'gate_resolved', ...about, payload: { ...names, ...output } }]);
    return { kind: 'gate_passed' };
  }
  // Rows may be older than the schema, so that the gate keeps what it was read as: an address in lower case.
  const config = 'config' in read ? read.config : {};
  const until = endOf(opening, step);
  if (step.status === 'pending') {
    const payload = { ...names, ...(until && { until }), gate_config: config };
    await db.rows(sql`
      with gate as (
        update subtasks s set status = 'blocked', started_at = now(), completed_at = null, error = null, gate_output = null,
          gate_config = ${step.gateConfig && JSON.stringify(config)}::jsonb, consumed = ${shownBy(sql`s`)}, answered_by = null
        where id = ${subtaskId}::uuid
      ), task as (${setTaskStatus(taskId, { subtaskId, to: 'blocked' })})
      ${insertEvents(project, [{ topic: 'gate_awaiting', ...about, payload }])}`);
  }
  const waitMs = until && Math.max(0, until.getTime() - step.nowMs);
  const policy = kind === 'human' ? (config as GatePolicy) : {};
  const moments = momentsOf(policy, step.status === 'pending' ? 0 : step.elapsedMs);
  const other = gateKind === 'pipeline_dep' && (step.gateConfig ?? {}).project_id;
  const note = typeof other === 'string' ? `project \`${other}\`` : describePolicy(policy);
  return {
    kind: 'gate',
    gateKind: kind,
    waitMs,
    ...(moments.length > 0 && { moments }),
    ...(note !== '' && { note }),
    since: new Date(step.nowMs - (step.status === 'pending' ? 0 : step.elapsedMs)).toISOString(),
  };
}
