/** Identifiers as the interface promises them: sortable where rows are listed, unguessable where they are secrets. */
import { randomBytes } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';
import { v7 } from 'uuid';

/** @returns 26 lower-case base32 characters that sort by the time at which they were made */
export const newRunId = (): string => ulid().toLowerCase();

/** @returns when a run was asked for, in Unix milliseconds; the present where the id does not tell */
export function acceptedAtMs(runId: string): number {
  try {
    return decodeTime(runId.toUpperCase());
  } catch {
    return Date.now();
  }
}

/** Tasks, subtasks, attempts, artifacts and deliveries have such ids. */
export const newUuid = (): string => v7();

/** @param ms since 1970 @returns the lowest id that can be made at this time */
export function firstUuid(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** @returns 43 URL-safe characters made from 32 random bytes */
export const newSecret = (): string => randomBytes(32).toString('base64url');

export const API_KEY_PREFIX = 'svc_pk_';
export const newApiKey = (): string => API_KEY_PREFIX + newSecret();

/** `acc_Acme.Inc` -> `acme-inc`. Two workspace ids may give one slug; the second is then refused. */
export const customerIdOf = (workspaceId: string): string =>
  workspaceId
    .replace(/^acc_/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** This tenant operates the deployment. */
export const INTERNAL_WORKSPACE = 'acc_internal';
