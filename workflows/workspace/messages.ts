/** What a provisioning and a destruction are started with. Names and numbers; what was made is in Postgres. */
import type { WorkspaceRef } from '../../src/resources/workspaces/model.ts';

/** The workflows' types, as the server knows them. */
export const PROVISION_WORKSPACE = 'provisionWorkspace';
export const DESTROY_WORKSPACE = 'destroyWorkspace';

export interface WorkspaceInput extends WorkspaceRef {
  /** What a workspace is made of, in the order in which it is made. */
  resources: string[];
  /** Of each step. Settings decide, so that tests need not wait. */
  retry: { initialMs: number; attempts: number };
  /** How long one resource may take. */
  timeoutMs: number;
}
