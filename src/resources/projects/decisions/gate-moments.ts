/**
 * Does what a waiting gate's configuration asks for as time passes: reminders, an escalation to others, and at last a
 * timeout.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { GateMoment, GatePolicy, Timeout } from '../../templates/gates/model.ts';
import { SYSTEM } from '../model.ts';
import type { Topic } from '../feed/model.ts';
import { noteProjectEvents, pauseLocked, type LockedProject } from '../store/record.ts';
import { runCommand } from '../control/run-command.ts';
import type { GateOutcome } from './model.ts';
import { findGate, onReject, settleGate, type Gate } from './settle-gate.ts';

export interface PassMomentArgs extends Pick<GateMoment, 'what' | 'nth'> {
  projectId: string;
  subtaskId: string;
  commandId: string;
}

/** Leaves a gate alone that no longer waits, or for which this moment has been recorded already. */
export const passGateMoment = (
  db: Database,
  { projectId, subtaskId, commandId, what, nth }: PassMomentArgs,
): Promise<GateOutcome<'resolved' | 'ignored'>> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    const gate = await findGate(db, projectId, { subtaskId });
    if (gate?.status !== 'blocked') return { outcome: 'ignored' };
    const policy = (gate.gateConfig ?? {}) as GatePolicy;
    switch (what) {
      case 'reminder':
        if (await moved(db, project, gate, sql`reminders = ${nth}`, sql`reminders < ${nth}`)) {
          await tell(db, project, gate, 'gate_reminded', { nth });
        }
        return { outcome: 'ignored' };
      case 'escalation': {
        const dueAt = sql`escalated_at = now(), due_at = now() + ${policy.due_in_s ?? 0} * interval '1 s'`;
        if (await moved(db, project, gate, dueAt, sql`escalated_at is null`)) {
          await tell(db, project, gate, 'gate_escalated', {});
        }
        return { outcome: 'ignored' };
      }
      case 'timeout': {
        const isFirst = await moved(db, project, gate, sql`timed_out_at = now()`, sql`timed_out_at is null`);
        return isFirst ? timeOut(db, project, gate, policy.on_timeout ?? 'remind') : { outcome: 'ignored' };
      }
    }
  });

async function timeOut(
  db: Database,
  project: LockedProject,
  gate: Gate,
  how: Timeout,
): Promise<GateOutcome<'resolved' | 'ignored'>> {
  await tell(db, project, gate, 'gate_timed_out', { on_timeout: how });
  if (how === 'remind') return { outcome: 'ignored' };
  if (how === 'pause') {
    await pauseLocked(db, project, 'gate_expired', { subtask_id: gate.id, step_slug: gate.slug });
    return { outcome: 'ignored' };
  }
  const isApproved = how === 'approve';
  const output = {
    decision: isApproved ? ('approved' as const) : ('rejected' as const),
    decided_by: 'system',
    comment: 'nobody answered in time',
    payload: null,
  };
  return settleGate(db, project, gate, {
    output,
    actor: SYSTEM,
    effect: isApproved ? 'pass' : onReject(gate.gateConfig),
    isExpired: !isApproved,
    via: 'timeout',
  });
}

type Change = ReturnType<typeof sql>;

/** @returns whether the wait did not have this change already */
async function moved(db: Database, { customerId }: LockedProject, { id }: Gate, change: Change, unless: Change) {
  const rows = await db.rows(sql`
    update waits set ${change} where subject = ${id} and customer_id = ${customerId} and settled_at is null and ${unless}
    returning id`);
  return rows.length > 0;
}

const tell = (db: Database, project: LockedProject, gate: Gate, topic: Topic, more: Record<string, unknown>) => {
  const payload = { phase_slug: gate.phaseSlug, step_slug: gate.slug, ...more };
  return noteProjectEvents(db, project, [{ topic, taskId: gate.taskId, subtaskId: gate.id, payload }]);
};
