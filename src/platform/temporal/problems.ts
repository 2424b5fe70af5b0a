/** What a failed Temporal call means to the caller of an endpoint. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Temporal } from './client.ts';
import { Problem } from '../core/problem.ts';

/** A route answers within this, whatever Temporal does. */
const DEADLINE_MS = 4_500;

/**
 * Runs a Temporal call under the deadline of a route.
 * @throws Problem runtime_unreachable when the frontend does not answer in time or at all
 */
export async function withinDeadline<T>(temporal: Temporal, call: () => Promise<T>): Promise<T> {
  try {
    return await temporal.connection.withDeadline(Date.now() + DEADLINE_MS, call);
  } catch (error) {
    if (isUnreachable(error)) throw new Problem('runtime_unreachable');
    throw error;
  }
}

const UNREACHABLE_STATUS = new Set([1 /* cancelled */, 4 /* deadline */, 8 /* exhausted */, 14 /* unavailable */]);

function isUnreachable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: number };
    if (code !== undefined && UNREACHABLE_STATUS.has(code)) return true;
    if (/transport error|connection refused|timeout expired|deadline/i.test(cause.message)) return true;
  }
  return false;
}

export const isWorkflowGone = (error: unknown): boolean => error instanceof WorkflowNotFoundError;
