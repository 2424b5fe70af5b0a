/** Has a class for each thing that can go wrong. A problem of the service also has a code, which the compiler knows. */
import { PROBLEMS, RUN_FAILURES } from './generated/problems.gen.ts';
import type { DestroyProblem, OtpProblem, PlanLimitProblem, ValidationProblem } from './generated/types.gen.ts';
import type { RunState } from './states.ts';

/** The codes of all problems that the service has. */
export type ProblemCode = keyof typeof PROBLEMS;
/** The codes of reasons for which a run fails. */
export type RunFailureCode = (typeof RUN_FAILURES)[number];

/** The type of `detail`, for problems where it is more than a text. */
interface StructuredDetails {
  validation: ValidationProblem['detail'];
  otp_required: OtpProblem['detail'];
  plan_limit_exceeded: PlanLimitProblem['detail'];
  destroy_failed: DestroyProblem['detail'];
  choose_workspace: { workspaces: unknown[] } & Record<string, unknown>;
}
export type ProblemDetail<Code extends ProblemCode | 'unknown'> = Code extends keyof StructuredDetails
  ? StructuredDetails[Code]
  : Code extends 'unknown'
    ? unknown
    : string;

/** The ancestor of all errors that this package throws by itself. */
export class AosError extends Error {
  override name = 'AosError';
}

/**
 * The service refused, or could not do, what was asked. `code` is `unknown` where the answer is not the service's (but
 * that of a proxy on the way), or where the service is newer than this package. `isProblem` narrows `detail` by the
 * code.
 */
export class ServiceError<Code extends ProblemCode | 'unknown' = ProblemCode | 'unknown'> extends AosError {
  override name = 'ServiceError';
  readonly code: Code;
  /** The status of the HTTP answer. */
  readonly status: number;
  readonly detail: ProblemDetail<Code>;
  /** The id under which the service's log has the request. */
  readonly requestId: string | undefined;
  /** How long to wait before the next attempt, where the answer says so. */
  readonly retryAfterMs: number | undefined;

  constructor(answer: {
    code: Code;
    status: number;
    detail: ProblemDetail<Code>;
    requestId?: string | undefined;
    retryAfterMs?: number | undefined;
  }) {
    const words = explain(answer.detail);
    const code = answer.code === 'unknown' || words.startsWith(answer.code) ? '' : `${answer.code}: `;
    super(`${answer.status} ${code}${words}`);
    this.code = answer.code;
    this.status = answer.status;
    this.detail = answer.detail;
    this.requestId = answer.requestId;
    this.retryAfterMs = answer.retryAfterMs;
  }
}

/** `ServiceError` as a union by code, with which the compiler checks that `switch (error.code)` is complete. */
export type AnyServiceError = { [Code in ProblemCode | 'unknown']: ServiceError<Code> }[ProblemCode | 'unknown'];

/** Tells whether an error is the service's, and one of these problems; where none is named, any problem will do. */
export function isProblem(error: unknown): error is AnyServiceError;
export function isProblem<Code extends ProblemCode>(error: unknown, ...codes: Code[]): error is ServiceError<Code>;
export function isProblem(error: unknown, ...codes: string[]): boolean {
  return error instanceof ServiceError && (codes.length === 0 || codes.includes(error.code));
}

/** No answer came, because the service is not there or the connection broke. */
export class ConnectionError extends AosError {
  override name = 'ConnectionError';
  /** True where the request may have reached the service all the same, so that a repeat may do it twice. */
  readonly mayHaveBeenDone: boolean;
  constructor(message: string, { mayHaveBeenDone, cause }: { mayHaveBeenDone: boolean; cause?: unknown }) {
    super(message, { cause });
    this.mayHaveBeenDone = mayHaveBeenDone;
  }
}

/** No answer came in the given time. The request may have been carried out. */
export class RequestTimeoutError extends ConnectionError {
  override name = 'RequestTimeoutError';
  constructor(message: string, cause?: unknown) {
    super(message, { mayHaveBeenDone: true, cause });
  }
}

/** What was awaited did not come in the given time. It still goes on, and can be awaited again. */
export class WaitTimeoutError extends AosError {
  override name = 'WaitTimeoutError';
}

/** A run ended without succeeding. */
export class RunFailedError extends AosError {
  override name = 'RunFailedError';
  readonly runId: string;
  readonly status: 'failed' | 'cancelled';
  /** Why the run failed. `unknown` stands for a reason without a name, and for a run that was cancelled. */
  readonly code: RunFailureCode | 'unknown';
  readonly run: RunState;
  constructor(run: RunState) {
    super(`run ${run.run_id} ${run.status}${run.error ? `: ${run.error}` : ''}`);
    this.runId = run.run_id;
    this.status = run.status === 'cancelled' ? 'cancelled' : 'failed';
    this.code = failureOf(run.error);
    this.run = run;
  }
}

/** A project is paused, and goes on only when somebody resumes it. */
export class ProjectPausedError extends AosError {
  override name = 'ProjectPausedError';
  readonly projectId: string;
  /** Known with a session only, because the public API does not tell it. */
  readonly reason: string | null;
  constructor(projectId: string, reason: string | null) {
    super(`project ${projectId} is paused${reason ? `: ${reason}` : ''}`);
    this.projectId = projectId;
    this.reason = reason;
  }
}

/** A project was abandoned, so it will never be completed. */
export class ProjectAbandonedError extends AosError {
  override name = 'ProjectAbandonedError';
  readonly projectId: string;
  constructor(projectId: string) {
    super(`project ${projectId} was abandoned`);
    this.projectId = projectId;
  }
}

/** @returns the error of an answer that is no success */
export function serviceError(response: Response, body: unknown): ServiceError {
  const { status, headers } = response;
  const { detail = body, error } = isObject(body) ? body : {};
  const said = error === 'auth_required' ? error : detail;
  return new ServiceError({
    code: codeOf(status, headers.get('x-service-problem'), said),
    status,
    detail: said as never,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterMs(headers),
  });
}

const known: Record<string, { status: number; detail?: string }> = PROBLEMS;

/** The service names the problem in a header. Where an older service does not, the usual words of a problem tell it. */
function codeOf(status: number, named: string | null, detail: unknown): ProblemCode | 'unknown' {
  if (named !== null) return Object.hasOwn(known, named) ? (named as ProblemCode) : 'unknown';
  if (status === 422 && Array.isArray(detail)) return 'validation';
  const told = isObject(detail) ? (detail.otp_required === true ? 'otp_required' : detail.code) : detail;
  const found = Object.entries(known).find(
    ([code, problem]) => problem.status === status && (told === code || told === problem.detail),
  );
  return found ? (found[0] as ProblemCode) : 'unknown';
}

/**
 * Reads a number of seconds or a date.
 * @returns milliseconds from now
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const said = headers.get('retry-after');
  if (!said) return undefined;
  const ms = /^\d+$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

const failureOf = (error: string | null): RunFailureCode | 'unknown' => {
  const named = /^\w+/.exec(error ?? '')?.[0];
  return RUN_FAILURES.find((code) => code === named) ?? 'unknown';
};

/** @returns `detail` as a text, whatever form it has */
function explain(detail: unknown): string {
  if (typeof detail === 'string') return detail.slice(0, 500);
  if (!Array.isArray(detail)) return JSON.stringify(detail) ?? '';
  return detail
    .map((fault) => {
      const { loc, msg } = fault as { loc?: unknown[]; msg?: unknown };
      return `${(loc ?? []).join('.')}: ${String(msg)}`;
    })
    .join('; ');
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
