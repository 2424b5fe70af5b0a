/** For endpoints whose path names a workspace. */
import { Problem } from '../core/problem.ts';
import type { Caller, Concern } from './endpoint.ts';

/** @returns that workspace, as the one that the request concerns: it is told what others do there */
export const namedWorkspace = ({ params }: { params: { identity_workspace_id: string } }): readonly Concern[] => [
  { workspaceId: params.identity_workspace_id },
];

/**
 * For what reaches all that a workspace has: nobody does so in another one, whatever else they may do with it.
 * @returns the caller's customer @throws Problem not_found when the path names another workspace
 */
export function ownCustomer({ workspaceId, customerId }: Caller, named: string): string {
  if (workspaceId !== named) throw new Problem('not_found');
  return customerId;
}
