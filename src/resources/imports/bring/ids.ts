/**
 * Ids of an archive stay what they are where they are free. Where the workspace that the archive is of still has them in this
 * deployment, others are made of them, the same each time: so what was brought is known again.
 */
import { sha256 } from '../../../platform/core/crypto.ts';

export type IdKind = 'uuid' | 'run' | 'project' | 'thread' | 'beside' | 'conversation';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
const RUN = /^[0-9a-hjkmnp-tv-z]{26}$/;
const PROJECT = /^[a-z0-9][a-z0-9-]{0,199}$/;

/** Ids become parts of addresses and of names of workflows. */
const FORMS: Readonly<Record<IdKind, RegExp>> = {
  uuid: UUID,
  run: RUN,
  project: PROJECT,
  thread: /^[^\0]{1,500}$/,
  beside: /^[a-z0-9][a-z0-9-]{0,199}$/,
  conversation: /^[^\0]{1,500}$/,
};

export const isId = (kind: IdKind, id: unknown): id is string => typeof id === 'string' && FORMS[kind].test(id);

export type Renew = (kind: IdKind, id: string) => string;

export const keepIds: Renew = (_kind, id) => id;

/** The time that an id begins with stays, as lists are in its order. */
export function renewIds(customerId: string): Renew {
  const digest = (id: string): string => sha256(`import ${customerId} ${id}`);
  const uuid = (id: string): string => {
    const hex = digest(id);
    return `${id.slice(0, 13)}-7${hex.slice(0, 3)}-a${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
  };
  const run = (id: string): string =>
    id.slice(0, 10) +
    Array.from({ length: 16 }, (_, at) => BASE32.charAt(parseInt(digest(id).slice(2 * at, 2 * at + 2), 16) % 32)).join(
      '',
    );
  const project = (id: string): string => `${id.replace(/-[0-9a-f]{6}$/, '')}-${digest(id).slice(0, 6)}`;
  return (kind, id) => {
    if (kind === 'run') return run(id);
    if (kind === 'project') return project(id);
    if (kind === 'beside') return UUID.test(id) ? uuid(id) : project(id);
    return id.replaceAll(UUIDS, uuid);
  };
}
