/** Decides who may answer a gate and whether enough people have, as the gate's configuration says. */
import { sql } from 'drizzle-orm';
import { first } from '../../../../platform/core/present.ts';
import { Problem } from '../../../../platform/core/problem.ts';
import { found, type Database } from '../../../../platform/db/client.ts';
import { isGuarded, type Approvers, type GatePolicy } from '../../../templates/gates/model.ts';
import type { Actor, Decision, ProjectStatus, Way } from '../../model.ts';
import { noteProjectEvents, type LockedProject } from '../record.ts';
import { nameOf } from '../waits.ts';
import type { Gate } from './gates.ts';

/** The vote was counted, and the gate needs more. */
export interface Voted {
  outcome: 'voted';
  /** The number of approvals so far. */
  votes: number;
  quorum: number;
  projectStatus: ProjectStatus;
}

export interface Vote {
  decision: Decision;
  comment: string | null;
  actor: Actor;
  via: Way;
}

interface Standing {
  waitId: string;
  revision: number;
  /** Whose place the answer counts for; null: it does not count. */
  seat: string | null;
  /** The voter, or the one they stand in for, where four eyes rule them out. */
  startedBy: string | null;
  changedBy: string | null;
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
  { decision, comment, actor, via }: Vote,
): Promise<Voted | undefined> {
  if (actor.kind === 'system' || !isGuarded(gate.gateConfig)) return undefined;
  const { quorum = 1 } = gate.gateConfig as GatePolicy;
  const voter = nameOf(actor);
  const { waitId, revision, seat } = await requireSeat(db, project, gate, voter);
  await db.rows(sql`
      insert into wait_votes (wait_id, customer_id, revision, voter, seat, answer, comment, via)
      values (${waitId}::uuid, ${project.customerId}, ${revision}, ${voter}, ${seat === voter ? null : seat},
        ${decision === 'approved' ? 'approve' : 'reject'}, ${comment}, ${via}::way_of_answer)
      on conflict (wait_id, revision, voter) do update set seat = excluded.seat, answer = excluded.answer,
        comment = excluded.comment, via = excluded.via, voted_at = now()`);
  // Counted apart, because a statement does not see the vote that it writes.
  const { votes } = first(
    await db.rows<{ votes: number }>(sql`
    select approvals_of(w.id, w.customer_id, w.revision, s.gate_config, w.escalated_at is not null) as votes
    from waits w join subtasks s on s.id = w.subtask_id and s.customer_id = w.customer_id
    where w.id = ${waitId}::uuid and w.customer_id = ${project.customerId}`),
  );
  if (decision === 'rejected' || votes >= quorum) return undefined;
  const payload = { phase_slug: gate.phaseSlug, step_slug: gate.slug, decision, decided_by: voter, votes, quorum };
  await noteProjectEvents(db, project, [
    { topic: 'gate_vote_recorded', taskId: gate.taskId, subtaskId: gate.id, actor, payload },
  ]);
  return { outcome: 'voted', votes, quorum, projectStatus: project.status };
}

/**
 * Of a gate that waits.
 * @throws Problem not_found, not_an_approver, four_eyes unless an answer of theirs counts
 */
export async function requireSeat(
  db: Database,
  project: LockedProject,
  gate: Gate,
  voter: string,
): Promise<{ waitId: string; revision: number; seat: string }> {
  const { approvers, four_eyes: fourEyes = false, escalate_to: escalateTo } = (gate.gateConfig ?? {}) as GatePolicy;
  const { waitId, revision, seat, startedBy, changedBy } = found(await standingOf(db, project, gate, voter));
  if (seat === null) throw notAnApprover(approvers, escalateTo);
  const involved = startedBy ?? changedBy;
  if (fourEyes && involved !== null) {
    const why = startedBy !== null ? 'started the project' : 'made what this is about as it is';
    throw new Problem('four_eyes', `somebody else has to decide: ${involved} ${why}`);
  }
  return { waitId, revision, seat };
}

/**
 * Loads what the voter is to the waiting gate. Persons are compared, so that a key of theirs is no second pair of eyes. The
 * project's events tell who changed an artifact before the gate by hand.
 */
async function standingOf(db: Database, { customerId }: LockedProject, gate: Gate, voter: string) {
  const [row] = await db.rows<Standing>(sql`
    select w.id as "waitId", w.revision, place.seat,
      case when person_behind(w.customer_id, p.started_by) in (voter.person, place.person) then p.started_by
        end as "startedBy", (
        select last.actor_id from tasks t join tasks u on u.project_id = t.project_id and u.phase_slug = any(t.depends_on)
          cross join lateral (
            select e.actor_id from project_events e
            where e.project_id = u.project_id and e.task_id = u.id and e.customer_id = ${customerId}
              and e.topic in ('artifact_promoted', 'artifact_reverted', 'artifact_set_manually')
            order by e.id desc limit 1) last
        where t.id = s.task_id and t.customer_id = ${customerId}
          and person_behind(w.customer_id, last.actor_id) in (voter.person, place.person) limit 1
      ) as "changedBy"
    from waits w join subtasks s on s.id = w.subtask_id and s.customer_id = w.customer_id
      join projects p on p.id = w.project_id and p.customer_id = w.customer_id
      cross join lateral (select person_behind(w.customer_id, ${voter}) as person) voter
      cross join lateral (
        select at.seat, person_behind(w.customer_id, at.seat) as person
        from (select seat_at(w.id, w.customer_id, s.gate_config, w.escalated_at is not null, ${voter}) as seat) at) place
    where w.subject = ${gate.id} and w.customer_id = ${customerId} and w.settled_at is null`);
  return row;
}

/** Names those who may answer, so that a caller who may not knows whom to ask. */
const notAnApprover = (approvers: Approvers | undefined, escalateTo: Approvers | undefined): Problem =>
  new Problem('not_an_approver', {
    code: 'not_an_approver',
    message: 'others decide here',
    approvers: approvers ?? null,
    escalate_to: escalateTo ?? null,
  });
