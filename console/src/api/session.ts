/** Tells who is signed in. The shell loads this before anything else is drawn. */
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { get } from './client.ts';
import type { Session } from './types.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => get<Session>('/v1/system/session', undefined, signal),
  staleTime: 60_000,
});

/** Whether this person may change anything here: a viewer only looks, and so does everybody in an archived workspace. */
export const mayChange = ({ is_archived: isArchived, rights }: Session): boolean =>
  !isArchived && rights.includes('workspace.change');

export const useSession = (): Session => useSuspenseQuery(sessionQuery).data;

/** @returns the address of a workflow execution in the Temporal Web UI, where this person may look at it */
export const temporalUrl = ({ temporal }: Session, workflowId: string): string | undefined =>
  temporal
    ? `${temporal.ui_url.replace(/\/$/, '')}/namespaces/${temporal.namespace}/workflows/${encodeURIComponent(workflowId)}`
    : undefined;
