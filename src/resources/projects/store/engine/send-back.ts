/** Sends work that was turned down back to whoever made it; what was built on it will be done again. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../../platform/db/client.ts';
import type { AttemptReason } from '../../model.ts';
import { downstreamOf, listSteps, producerBefore, resetSteps } from '../commands/steps.ts';

interface Objection {
  taskId: string;
  /** The reviewer, tester or gate that objects. */
  stepSlug: string;
  feedback: string;
  reason: Extract<AttemptReason, 'review_failure' | 'manual_rework'>;
}

/**
 * The nearest producer or assembler before the objecting step is pending again, with the feedback, and so is every
 * step after it.
 * @returns that producer; undefined, and nothing is changed, where there is none
 */
export async function sendBack(db: Database, { taskId, stepSlug, feedback, reason }: Objection) {
  const steps = await listSteps(db, taskId);
  const producer = producerBefore(steps, stepSlug);
  if (!producer) return undefined;
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
