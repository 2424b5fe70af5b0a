/** The start of a provisioning and of a destruction. It carries names and numbers; what was made is in Postgres. */
import type { WorkspaceRef } from '../../src/resources/workspaces/model.ts';

/** The server knows the workflows by these types. */
export const PROVISION_WORKSPACE = 'provisionWorkspace';
export const DESTROY_WORKSPACE = 'destroyWorkspace';

export interface WorkspaceInput extends WorkspaceRef {
  /** A workspace is made of these, in the order in which they are made. */
  resources: string[];
  /** The retries of each step. Settings decide them, so that tests need not wait. */
  retry: { initialMs: number; attempts: number };
  /** One resource may take this long. */
  timeoutMs: number;
}
