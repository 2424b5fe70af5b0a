/**
 * What makes a tenant's infrastructure and takes it down again. A provisioner does one thing at a time and may be asked
 * for the same thing any number of times: who calls it retries, and may have died before it heard the answer.
 */
import type { Plan, Provisioned } from '../model.ts';

export interface ProvisionedTenant {
  workspaceId: string;
  customerId: string;
  plan: Plan;
}

/** One thing that was asked for, as far as it is. */
interface Resource {
  isReady: boolean;
  /** What is to be remembered of it: names, addresses; never a secret. */
  facts: Record<string, string>;
}

export interface Provisioner {
  /** Everything that a workspace is made of, in the order in which it is made. */
  readonly resources: readonly string[];
  /** Asks for one; what is there already is met again. @throws ProvisionerError */
  create(tenant: ProvisionedTenant, resource: string, signal: AbortSignal): Promise<Resource>;
  /** Undefined: there is none. @throws ProvisionerError */
  find(tenant: ProvisionedTenant, resource: string, signal: AbortSignal): Promise<Resource | undefined>;
  /** Asks for the end of one; none is no error. @throws ProvisionerError */
  remove(tenant: ProvisionedTenant, resource: string, signal: AbortSignal): Promise<void>;
  /** Where the tenant's runtime answers, once it does. @throws ProvisionerError */
  reachRuntime(tenant: ProvisionedTenant, made: Provisioned, signal: AbortSignal): Promise<string>;
}

/** What went wrong, for the row of the workspace: a code and a sentence without secrets. */
export class ProvisionerError extends Error {
  readonly code: string;
  /** Asking again would not help. */
  readonly isFinal: boolean;
  constructor(code: string, message: string, { isFinal = false } = {}) {
    super(message);
    this.name = 'ProvisionerError';
    this.code = code;
    this.isFinal = isFinal;
  }
}

export const unknownResource = (resource: string): ProvisionerError =>
  new ProvisionerError('unknown_resource', `${resource} was made by another provisioner`, { isFinal: true });
