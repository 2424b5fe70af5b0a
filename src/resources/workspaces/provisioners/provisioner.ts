/**
 * A provisioner makes a tenant's infrastructure and takes it down again. It does one thing at a time and may be asked
 * for the same thing any number of times: who calls it retries, and may have died before hearing the answer.
 */
import type { Plan, Provisioned } from '../model.ts';

export interface ProvisionedTenant {
  workspaceId: string;
  customerId: string;
  plan: Plan;
}

/** One resource that was asked for, in its present state. */
interface Resource {
  isReady: boolean;
  /** These facts are remembered of it: names and addresses, never a secret. */
  facts: Record<string, string>;
}

export interface Provisioner {
  /** A workspace is made of these, in the order in which they are made. */
  readonly resources: readonly string[];
  /** Asks for a resource; one that exists already is found again. @throws ProvisionerError */
  create(tenant: ProvisionedTenant, resource: string, signal: AbortSignal): Promise<Resource>;
  /** @returns undefined where the resource does not exist @throws ProvisionerError */
  find(tenant: ProvisionedTenant, resource: string, signal: AbortSignal): Promise<Resource | undefined>;
  /** Asks for the end of a resource; where there is none, that is no error. @throws ProvisionerError */
  remove(tenant: ProvisionedTenant, resource: string, signal: AbortSignal): Promise<void>;
  /** @returns the address at which the tenant's runtime answers, once it does @throws ProvisionerError */
  reachRuntime(tenant: ProvisionedTenant, made: Provisioned, signal: AbortSignal): Promise<string>;
}

/** Says what went wrong, for the row of the workspace: a code and a sentence without secrets. */
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
