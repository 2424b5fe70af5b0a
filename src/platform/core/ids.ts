/** Identifiers as the interface promises them: sortable where rows are listed, unguessable where they are secrets. */
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import { v7 } from 'uuid';

/** 26 lower-case base32 characters that sort by time. */
export const newRunId = (): string => ulid().toLowerCase();

/** Tasks, subtasks, attempts, artifacts, deliveries. */
export const newUuid = (): string => v7();

/** 43 URL-safe characters from 32 random bytes. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

export const API_KEY_PREFIX = 'svc_pk_';
export const newApiKey = (): string => API_KEY_PREFIX + newSecret();

/** `acc_Acme.Inc` -> `acme-inc`. Two workspace ids may give one slug; the second is then refused. */
export const customerIdOf = (workspaceId: string): string =>
  workspaceId
    .replace(/^acc_/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');

/** The tenant that operates the deployment. */
export const INTERNAL_WORKSPACE = 'acc_internal';
