/** Translates a failed Temporal call for the caller of an endpoint. */
import { ApplicationFailure, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { fieldsOf } from '../core/record.ts';
import type { Temporal } from './client.ts';
import { causesOf } from '../core/causes.ts';
import { Problem, PROBLEMS, type ProblemCode, type StructuredCode } from '../core/problem.ts';

/**
 * Temporal has so much of the five seconds in which a route answers; the rest is for the database, before and after.
 */
const DEADLINE_MS = 4_000;

/**
 * Runs Temporal calls under the deadline of a route, after which none is made any more. On our own clock too, for what
 * `call` does between them.
 * @throws Problem runtime_unreachable when the frontend does not answer in time or at all
 */
export async function withinDeadline<T>(temporal: Temporal, call: () => Promise<T>): Promise<T> {
  const { connection, answersWithinMs = DEADLINE_MS } = temporal;
  const answer = connection.withDeadline(Date.now() + answersWithinMs, call);
  try {
    return await orAfter(answersWithinMs, answer, () => {
      throw new Problem('runtime_unreachable', undefined, new Error(`no answer in ${answersWithinMs} ms`));
    });
  } catch (error) {
    throw namedIfUnreachable(error);
  }
}

/** Names an error for calls that may wait longer than a route's deadline. */
export const namedIfUnreachable = (error: unknown): unknown =>
  isUnreachable(error) ? new Problem('runtime_unreachable', undefined, error) : error;

/** Stops waiting for work after that long; the work itself goes on. */
export async function orAfter<T>(ms: number, work: Promise<T>, giveUp: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  try {
    return await Promise.race([work, late.then(giveUp)]);
  } finally {
    clearTimeout(timer);
  }
}

const UNREACHABLE_STATUS = new Set([1 /* cancelled */, 4 /* deadline */, 8 /* exhausted */, 14 /* unavailable */]);

function isUnreachable(error: unknown): boolean {
  for (const cause of causesOf(error)) {
    const { code } = fieldsOf(cause);
    if (typeof code === 'number' && UNREACHABLE_STATUS.has(code)) return true;
    if (/transport error|connection refused|timeout expired|deadline/i.test(cause.message)) return true;
    // The workflow's task has failed or timed out on its workers again and again: nobody is there to take an update.
    if (cause.message.includes('Workflow Task in failed state')) return true;
  }
  return false;
}

export const isWorkflowGone = (error: unknown): boolean => error instanceof WorkflowNotFoundError;

/** @returns the failures inside of a refused or failed update */
const failuresOfUpdate = (error: unknown): ApplicationFailure[] =>
  error instanceof WorkflowUpdateFailedError
    ? [...causesOf(error)].filter((each) => each instanceof ApplicationFailure)
    : [];

/** The types of the server's own failures of an update that the workflow has not carried out. */
const LOST_UPDATES = new Set([
  /** The workflow had taken it, but closed before it was done. */
  'AcceptedUpdateCompletedWorkflow',
  /** It came with others in a workflow task that the worker answered without it. */
  'UnprocessedUpdate',
]);

/** The server dropped it with the workflow task it was a part of, which failed: something else had happened meanwhile. */
const isTaskFailed = (error: unknown): boolean =>
  [...causesOf(error)].some(({ message }) => message.includes('unexpected workflow task failure'));

/** An update that nothing came of: the workflow was closed, or did not get to it. It can be sent again. */
export const isUpdateLost = (error: unknown): boolean =>
  isWorkflowGone(error) ||
  isTaskFailed(error) ||
  failuresOfUpdate(error).some(({ type }) => type != null && LOST_UPDATES.has(type));

/** A refusal keeps its name from the workflow or activity that spoke it to the caller. Everything else stays as it is. */
export function rethrowAsProblem(error: unknown): never {
  for (const { type, message, details } of failuresOfUpdate(error)) {
    if (!isRefusal(type)) continue;
    const [detail] = details ?? [];
    // Some codes say more than a text: the record has given them a structured detail.
    throw typeof detail === 'object' && detail !== null
      ? new Problem(type as StructuredCode, detail)
      : new Problem(type, message);
  }
  throw error;
}

const isRefusal = (type: string | null | undefined): type is ProblemCode =>
  typeof type === 'string' && Object.hasOwn(PROBLEMS, type) && PROBLEMS[type as ProblemCode].status < 500;
