/** Decides who may answer a gate and whether enough people have, as the gate's configuration says. */
import { sql } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { isGuarded, type GatePolicy } from '../../templates/gates/model.ts';
import type { Actor, Decision, Way } from '../model.ts';
import { CAN_ANSWER, isLastResort, LAST_CHANGERS } from '../store/answerers.ts';
import { noteProjectEvents, type LockedProject } from '../store/record.ts';
import { nameOf } from '../store/waits.ts';
import type { GateOutcome } from './model.ts';
import type { Gate } from './settle-gate.ts';

interface Standing {
  waitId: string;
  revision: number;
  /** Whose place the answer counts for; null: it does not count. */
  seat: string | null;
  /** The voter, or the one they stand in for, where four eyes rule them out. */
  startedBy: string | null;
  changedBy: string | null;
  /** An owner decides alone if fewer people can answer than have to approve. */
  isLastResort: boolean;
  canAnswer: string[];
}

/**
 * Counts a vote for a gate that waits. A timeout is the service's own answer, which needs no right and no quorum.
 * @returns the votes so far where more are needed; undefined where the gate is decided
 * @throws Problem not_an_approver, four_eyes
 */
export async function countVote(
  db: Database,
  project: LockedProject,
  gate: Gate,
  { decision, comment, actor, via }: { decision: Decision; comment: string | null; actor: Actor; via: Way },
): Promise<GateOutcome<'voted'> | undefined> {
  if (actor.kind === 'system' || !isGuarded(gate.gateConfig)) return undefined;
  const { quorum = 1 } = gate.gateConfig as GatePolicy;
  const voter = nameOf(actor);
  const standing = found(await standingOf(db, project, gate, voter));
  const { waitId, revision, seat, isLastResort, canAnswer } = standing;
  if (!isLastResort) seatIn(gate, standing);
  requireOtherEyes(gate, standing);
  const changed = await db.rows<{ voter: string }>(sql`
      insert into wait_votes (wait_id, customer_id, revision, voter, seat, answer, comment, via)
      values (${waitId}::uuid, ${project.customerId}, ${revision}, ${voter}, ${seat === voter ? null : seat},
        ${decision === 'approved' ? 'approve' : 'reject'}, ${comment}, ${via}::way_of_answer)
      on conflict (wait_id, revision, voter) do update set seat = excluded.seat, answer = excluded.answer,
        comment = excluded.comment, via = excluded.via, voted_at = now()
      where (wait_votes.seat, wait_votes.answer, wait_votes.comment)
        is distinct from (excluded.seat, excluded.answer, excluded.comment)
      returning voter`);
  // Counted apart, because a statement does not see the vote that it writes.
  const { votes } = first(
    await db.rows<{ votes: number }>(sql`
    select approvals_of(w.id, w.customer_id, w.revision, s.gate_config, w.escalated_at is not null) as votes
    from waits w join subtasks s on s.id = w.subtask_id and s.customer_id = w.customer_id
    where w.id = ${waitId}::uuid and w.customer_id = ${project.customerId}`),
  );
  if (seat !== null && (decision === 'rejected' || votes >= quorum)) return undefined;
  const payload = { phase_slug: gate.phaseSlug, step_slug: gate.slug, decision, decided_by: voter, votes, quorum };
  const about = { topic: 'gate_vote_recorded', taskId: gate.taskId, subtaskId: gate.id, actor } as const;
  if (isLastResort) {
    const exception = { ...payload, as_owner: true, can_answer: canAnswer };
    await noteProjectEvents(db, project, [{ ...about, level: 'warn', payload: exception }]);
    return undefined;
  }
  // Who says the same again has said it once.
  if (changed.length > 0) await noteProjectEvents(db, project, [{ ...about, payload }]);
  return { outcome: 'voted', votes, quorum, projectStatus: project.status };
}

/**
 * Of a gate that waits.
 * @throws Problem not_found, not_an_approver, four_eyes unless an answer of theirs counts
 */
export async function requireSeat(db: Database, project: LockedProject, gate: Gate, voter: string) {
  const standing = found(await standingOf(db, project, gate, voter));
  const seat = seatIn(gate, standing);
  requireOtherEyes(gate, standing);
  return { waitId: standing.waitId, seat };
}

/** @throws Problem not_an_approver, which says who could answer, so that a caller who may not knows whom to ask */
function seatIn({ gateConfig }: Gate, { seat, canAnswer }: Standing): string {
  if (seat !== null) return seat;
  const { approvers = null, escalate_to = null, quorum = 1 } = (gateConfig ?? {}) as GatePolicy;
  const few = `${canAnswer.length} of the ${quorum} whom this takes can answer: an owner of the workspace may decide`;
  throw new Problem('not_an_approver', {
    code: 'not_an_approver',
    message: canAnswer.length < quorum ? few : 'others decide here',
    approvers,
    escalate_to,
    can_answer: canAnswer.slice(0, MOST_NAMED),
  });
}

/** @throws Problem four_eyes */
function requireOtherEyes({ gateConfig }: Gate, { startedBy, changedBy, canAnswer }: Standing): void {
  const { four_eyes: fourEyes = false } = (gateConfig ?? {}) as GatePolicy;
  const involved = startedBy ?? changedBy;
  if (!fourEyes || involved === null) return;
  const why = startedBy !== null ? 'started the project' : 'made what this is about as it is';
  const others =
    canAnswer.length > 0 ? '' : '; nobody else can, so add somebody to the workspace, an owner if it is urgent';
  throw new Problem('four_eyes', `somebody else has to decide: ${involved} ${why}${others}`);
}

/**
 * Loads what the voter is to the waiting gate. Persons are compared, so that a key of theirs is no second pair of eyes.
 */
async function standingOf(db: Database, { customerId }: LockedProject, gate: Gate, voter: string) {
  const [row] = await db.rows<Standing>(sql`
    select w.id as "waitId", w.revision, place.seat,
      case when person_behind(w.customer_id, p.started_by) in (voter.person, place.person) then p.started_by
        end as "startedBy", (
        select last.actor_id from (${LAST_CHANGERS}) last
        where person_behind(w.customer_id, last.actor_id) in (voter.person, place.person) limit 1
      ) as "changedBy",
      ${isLastResort(voter)} as "isLastResort", ${CAN_ANSWER} as "canAnswer"
    from waits w join subtasks s on s.id = w.subtask_id and s.customer_id = w.customer_id
      join projects p on p.id = w.project_id and p.customer_id = w.customer_id
      cross join lateral (select person_behind(w.customer_id, ${voter}) as person) voter
      cross join lateral (
        select at.seat, person_behind(w.customer_id, at.seat) as person
        from (select seat_at(w.id, w.customer_id, s.gate_config, w.escalated_at is not null, ${voter}) as seat) at) place
    where w.subject = ${gate.id} and w.customer_id = ${customerId} and w.settled_at is null`);
  return row;
}

/** A problem names so many people. */
const MOST_NAMED = 20;
