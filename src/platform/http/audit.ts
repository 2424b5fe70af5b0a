/**
 * The audit log of changes to configuration, as the HTTP layer sees it. Every endpoint that is no GET is recorded unless
 * it declares `audited: false`, so that a new one cannot be forgotten; a GET is where it declares `audited: true`. The row is there before the change, and is
 * completed after it: a process that dies in between leaves a row whose outcome is unknown, never a change without one.
 *
 * What a contract refuses (bad input) and what shows no credential has changed nothing and is not recorded.
 *
 * What somebody of the operator's does to another workspace is in that one's log too: its route says which it concerns.
 */
import { Problem } from '../core/problem.ts';
import { can } from '../core/rights.ts';
import type { Concern, Endpoint, EndpointRequest, Route } from './endpoint.ts';

type Asked = Pick<EndpointRequest, 'caller' | 'params' | 'query' | 'body'>;

export interface AuditTrail {
  /** @returns the numbers of the rows: one in the caller's log, and one in that of each other workspace concerned */
  open(action: string, asked: Asked, concerned?: readonly Concern[]): Promise<readonly number[]>;
  /** Never throws: what they tell of has happened. */
  close(rows: readonly number[], status: number, reply?: unknown): Promise<void>;
  /** Takes the rows back where the request turned out to have been a question. Never throws. */
  withdraw(rows: readonly number[]): Promise<void>;
}

export const isAudited = ({ method, audited = method !== 'get' }: Endpoint): boolean => audited;

/** Runs a handler with rows that tell of it, outside of any transaction of the handler's. */
export async function withAudit<T>(
  trail: AuditTrail | undefined,
  { endpoint, concerned }: Pick<Route, 'endpoint' | 'concerned'>,
  asked: Asked & Pick<EndpointRequest, 'confirmation'>,
  work: () => Promise<T>,
): Promise<T> {
  if (!trail || !isAudited(endpoint)) return work();
  // To anybody else an id of another workspace is only a word, and must not write into the log of that workspace.
  const others = concerned && can(asked.caller, 'audit-log.tell-others') ? await concerned(asked) : [];
  const rows = await trail.open(endpoint.id, asked, others);
  const result = await work().catch(async (error: unknown) => {
    // The demand for a code comes first, and the same request again: that one is recorded.
    const isDemand = error instanceof Problem && error.code === 'otp_required' && asked.confirmation.code === undefined;
    await (isDemand ? trail.withdraw(rows) : trail.close(rows, error instanceof Problem ? error.status : 500));
    throw error;
  });
  await trail.close(rows, endpoint.status, result);
  return result;
}
