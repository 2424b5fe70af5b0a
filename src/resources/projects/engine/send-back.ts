/** Sends work that was turned down back to whoever made it; what was built on it will be done again. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { AttemptReason } from '../model.ts';
import { downstreamOf, listSteps, producerBefore, resetSteps } from './steps.ts';

interface Objection {
  taskId: string;
  /** The reviewer, tester or gate that objects. */
  stepSlug: string;
  feedback: string;
  reason: Extract<AttemptReason, 'review_failure' | 'manual_rework'>;
}

/**
 * The producer before the objecting step is pending again, with the feedback, and so is every step after it.
 * @returns that producer; undefined, and nothing is changed, where no agent is before that step: an action would make the
 * same again
 */
export async function sendBack(db: Database, { taskId, stepSlug, feedback, reason }: Objection) {
  const steps = await listSteps(db, taskId);
  const producer = producerBefore(steps, stepSlug);
  if (producer?.kind !== 'agent') return undefined;
  await resetSteps(db, downstreamOf(steps, producer.slug), reason);
  const [sentBack] = await db.rows<{ subtaskId: string; stepSlug: string; attemptsUsed: number; maxAttempts: number }>(
    sql`
    update subtasks set status = 'pending', completed_at = null, error = null, feedback = feedback || ${feedback}::text,
      next_reason = ${reason}::attempt_reason
    where id = ${producer.id}::uuid
    returning id as "subtaskId", step_slug as "stepSlug", attempts_used as "attemptsUsed", max_attempts as "maxAttempts"`,
  );
  return sentBack;
}

/**
 * Keeps the words of a judge whose work was sent back while it judged, for the producer before it: that one alone made
 * what was judged. It is about to try again, or has failed and tries again when a person asks for it.
 */
export async function passOn(
  db: Database,
  { taskId, stepSlug, feedback }: Pick<Objection, 'taskId' | 'stepSlug' | 'feedback'>,
): Promise<void> {
  const producer = producerBefore(await listSteps(db, taskId), stepSlug);
  if (!producer) return;
  await db.rows(sql`
    update subtasks set feedback = feedback || ${feedback}::text
    where id = ${producer.id}::uuid and status in ('pending', 'failed')
      and next_reason in ('review_failure', 'manual_rework')`);
}
