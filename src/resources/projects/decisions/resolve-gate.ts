/** Applies an answer to a waiting gate. The first answer decides; the lock on the project tells which one was first. */
import { z } from 'zod';
import type { GateCommand } from '../../../../workflows/project/messages.ts';
import { isTooDeep, TOO_DEEP } from '../../../platform/core/json.ts';
import { first } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { Database } from '../../../platform/db/client.ts';
import { findUnstorable } from '../../../platform/http/validate.ts';
import type { GateKind } from '../../templates/model.ts';
import { DECISIONS, type Actor, type CommandTexts, type Seen } from '../model.ts';
import { noteProjectEvents, type LockedProject } from '../store/record.ts';
import { requireSeen } from '../store/waits.ts';
import { runCommand } from '../control/run-command.ts';
import type { GateOutcome } from './model.ts';
import { findGate, onReject, requireWaiting, settleGate, wayOf } from './settle-gate.ts';
import { countVote } from './votes.ts';

/** A command, who gives it, and how. */
interface GivenCommand {
  projectId: string;
  answer: GateCommand;
  actor: Actor;
  /** The one kind of gate that this caller may answer; null where it may answer any. */
  gateKind: GateKind | null;
  commandId: string | null;
  /** Set for an answer in the inbox. */
  seen?: Seen | undefined;
  /**
   * A signal has no caller who could be told of a refusal, so an answer that cannot be applied is noted in the feed and
   * ignored.
   */
  lenient?: boolean;
}

/**
 * @throws Problem not_found, gate_not_waiting, not_an_approver, four_eyes, already_answered, changed_since,
 * bad_request; with `lenient` only not_found, for the project
 */
export const resolveGate = (
  db: Database,
  { projectId, answer, actor: said, gateKind, commandId, seen, lenient = false }: GivenCommand,
): Promise<GateOutcome<'resolved' | 'voted' | 'ignored'>> =>
  runCommand(db, { projectId, commandId }, async (project, texts) => {
    // The id that comes with a signal is the sender's own text.
    const actor = { ...said, id: said.id && storable(said.id) };
    try {
      return await decide(db, project, readAnswer(saying(answer, texts)), { actor, gateKind, seen });
    } catch (error) {
      // The refusal was thrown before anything was written.
      if (!lenient || !(error instanceof Problem)) throw error;
      const about = z.uuid().safeParse((answer as Partial<GateCommand> | null)?.subtask_id);
      const payload = { why: reasonIn(error), subtask_id: about.data ?? null };
      await noteProjectEvents(db, project, [{ topic: 'gate_answer_ignored', actor, payload }]);
      return { outcome: 'ignored' };
    }
  });

/** The words of whoever called the API are kept beside the answer; a signal brings them along. */
const saying = (answer: GateCommand, { comment, payload }: CommandTexts): GateCommand => ({
  ...answer,
  ...(comment !== undefined && { comment }),
  ...(payload !== undefined && { payload }),
});

/** The detail of some problems is an object with a message. */
const reasonIn = ({ message, detail }: Problem): string =>
  typeof detail === 'object' && detail !== null && 'message' in detail ? String(detail.message) : message;

async function decide(
  db: Database,
  project: LockedProject,
  { subtask_id: subtaskId, decision, decided_by: by, comment, payload }: z.infer<typeof CheckedCommand>,
  { actor, gateKind, seen }: { actor: Actor; gateKind: GateKind | null; seen: Seen | undefined },
): Promise<GateOutcome<'resolved' | 'voted'>> {
  const gate = await findGate(db, project.id, { subtaskId });
  if (!gate || (gateKind !== null && gate.gateKind !== gateKind)) {
    throw new Problem('not_found', `no such ${gateKind ?? ''} gate in this project`.replace('  ', ' '));
  }
  const decidedBy = by ?? actor.id ?? actor.kind;
  await requireSeen(db, project, gate.id, seen);
  requireWaiting(gate);
  const via = seen?.via ?? wayOf(actor);
  const voted = await countVote(db, project, gate, { decision, comment: comment ?? null, actor, via });
  if (voted) return voted;
  return settleGate(db, project, gate, {
    output: { decision, decided_by: decidedBy, comment: comment ?? null, payload: payload ?? null },
    actor: actor.kind === 'external' && actor.id === null ? { ...actor, id: decidedBy } : actor,
    isExpired: actor.kind === 'system' && decision === 'rejected',
    via,
    effect: decision === 'approved' ? 'pass' : gate.isPlanApproval ? 'skip' : onReject(gate.gateConfig),
  });
}

const storable = (text: string): string => text.replaceAll('\u0000', '').slice(0, 200).toWellFormed();

const MAX_ANSWER_CHARACTERS = 64 * 1_024;
const CheckedCommand = z.object({
  subtask_id: z.uuid(),
  decision: z.enum(DECISIONS),
  decided_by: z.string().max(64).optional(),
  comment: z.string().max(10_000).nullish(),
  payload: z.record(z.string(), z.unknown()).nullish(),
});

/** Reads an answer strictly, because whoever can reach the server can send anything as a signal. */
function readAnswer(answer: unknown): z.infer<typeof CheckedCommand> {
  const parsed = CheckedCommand.safeParse(answer);
  if (!parsed.success) {
    const issue = first(parsed.error.issues);
    throw new Problem('bad_request', [issue.path.join('.'), issue.message].filter(Boolean).join(': '));
  }
  if (isTooDeep(parsed.data)) throw new Problem('bad_request', `the answer is ${TOO_DEEP}`);
  if (JSON.stringify(parsed.data).length > MAX_ANSWER_CHARACTERS) {
    throw new Problem('bad_request', 'the answer is too large');
  }
  if (findUnstorable(parsed.data)) throw new Problem('bad_request', 'the answer has characters that cannot be stored');
  return parsed.data;
}
