/** The parts of a job that ships with the product. */
import type { Facts } from './facts.ts';

interface Shipped {
  /** It never changes, because workspaces refer to it. */
  id: string;
  /** The description has one line. */
  description: string;
  /** The time is UTC; a workspace can set its own. */
  cron: string;
}

/** The service does such a job by itself, for every workspace that has not switched it off. */
export interface SystemJob extends Shipped {
  kind: 'system';
  agent: null;
  enabled: true;
  /** Does the job for one workspace. It may be repeated. */
  run: (facts: Facts, customerId: string) => Promise<void>;
}

/** An agent does such a job, in a run. It costs money, so a workspace has to switch it on. */
export interface AgentJob extends Shipped {
  kind: 'agent';
  agent: string;
  enabled: false;
  /** @returns the prompt of the run */
  brief: (facts: Facts, customerId: string) => Promise<string>;
}

export type BuiltinJob = SystemJob | AgentJob;

export const systemJob = (job: Omit<SystemJob, 'kind' | 'agent' | 'enabled'>): SystemJob => ({
  ...job,
  kind: 'system',
  agent: null,
  enabled: true,
});
export const agentJob = (job: Omit<AgentJob, 'kind' | 'enabled'>): AgentJob => ({
  ...job,
  kind: 'agent',
  enabled: false,
});
