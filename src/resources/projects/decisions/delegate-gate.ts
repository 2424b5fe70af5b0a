/**
 * Lets an approver name somebody whose answer counts in their place until a given time. It runs under the lock that
 * settles the gate.
 */
import { sql } from 'drizzle-orm';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { memberOf } from '../../members/store/fragments.ts';
import type { GatePolicy } from '../../templates/gates/model.ts';
import { lockProject, noteProjectEvents } from '../store/record.ts';
import { findGate, requireWaiting } from './settle-gate.ts';
import { requireSeat } from './votes.ts';

export interface DelegateGateArgs {
  customerId: string;
  projectId: string;
  subtaskId: string;
  /** Both are e-mail addresses. */
  delegator: string;
  standIn: string;
  until: Date;
}

/**
 * A second delegation by the same approver replaces the stand-in of the first. A stand-in cannot name another one.
 * @throws Problem not_found, gate_not_waiting, bad_request, not_an_approver, four_eyes
 */
export const delegateGate = (
  db: Database,
  { customerId, projectId, subtaskId, delegator, standIn, until }: DelegateGateArgs,
): Promise<void> =>
  db.transaction(async () => {
    const locked = await lockProject(db, projectId);
    const project = found(locked.customerId === customerId ? locked : undefined);
    const gate = found(await findGate(db, project.id, { subtaskId }));
    requireWaiting(gate);
    const { approvers } = (gate.gateConfig ?? {}) as GatePolicy;
    if (!approvers) throw new Problem('bad_request', 'everybody in the workspace may answer this one already');
    const { waitId, seat } = await requireSeat(db, project, gate, delegator);
    if (seat !== delegator) {
      throw new Problem('bad_request', `you stand in for ${seat} yourself: only an approver names a stand-in`);
    }
    const [member] = await db.rows<{ hasSay: boolean }>(sql`
      select has_say(${customerId}, null, false, m.email) as "hasSay" from ${memberOf(customerId, standIn)} m`);
    if (!member) throw new Problem('bad_request', `to: ${standIn} is no member of the workspace`);
    if (!member.hasSay) throw new Problem('bad_request', `to: ${standIn} is a viewer, who can answer nothing`);
    await db.rows(sql`
      insert into wait_delegations (wait_id, customer_id, delegator, stand_in, until)
      values (${waitId}::uuid, ${customerId}, ${delegator}, ${standIn}, ${until})
      on conflict (wait_id, delegator) do update set stand_in = excluded.stand_in, until = excluded.until, created_at = now()`);
    // The right of the stand-in is checked as it will be when they answer, because four eyes may exclude them too.
    await requireSeat(db, project, gate, standIn);
    const payload = { phase_slug: gate.phaseSlug, step_slug: gate.slug, to: standIn, until };
    const actor = { kind: 'human' as const, id: delegator };
    await noteProjectEvents(db, project, [
      { topic: 'gate_delegated', taskId: gate.taskId, subtaskId: gate.id, actor, payload },
    ]);
  });
