/**
 * The audit log of changes to configuration, as the HTTP layer sees it. Every endpoint that is no GET is recorded unless
 * it declares `audited: false`, so that a new one cannot be forgotten. The row is there before the change, and is
 * completed after it: a process that dies in between leaves a row whose outcome is unknown, never a change without one.
 *
 * What a contract refuses (bad input) and what shows no credential has changed nothing and is not recorded.
 */
import { Problem } from '../core/problem.ts';
import type { Endpoint, EndpointRequest } from './endpoint.ts';

type Asked = Pick<EndpointRequest, 'caller' | 'params' | 'query' | 'body'>;

export interface AuditTrail {
  /** @returns the number of the row */
  open(action: string, asked: Asked): Promise<number>;
  /** Never throws: what it tells of has happened. */
  close(row: number, status: number, reply?: unknown): Promise<void>;
  /** For what turned out to have been a question. Never throws. */
  withdraw(row: number): Promise<void>;
}

export const isAudited = ({ method, audited }: Endpoint): boolean => method !== 'get' && audited !== false;

/** Runs a handler with a row that tells of it, outside of any transaction of the handler's. */
export async function withAudit<T>(
  trail: AuditTrail | undefined,
  endpoint: Endpoint,
  asked: Asked & Pick<EndpointRequest, 'confirmation'>,
  work: () => Promise<T>,
): Promise<T> {
  if (!trail || !isAudited(endpoint)) return work();
  const row = await trail.open(endpoint.id, asked);
  const result = await work().catch(async (error: unknown) => {
    // The demand for a code comes first, and the same request again: that one is recorded.
    const isDemand = error instanceof Problem && error.code === 'otp_required' && asked.confirmation.code === undefined;
    await (isDemand ? trail.withdraw(row) : trail.close(row, error instanceof Problem ? error.status : 500));
    throw error;
  });
  await trail.close(row, endpoint.status, result);
  return result;
}
