/** What a job that ships is made of. */
import type { Facts } from './facts.ts';

interface Shipped {
  /** Never changes: workspaces refer to it. */
  id: string;
  /** One line. */
  description: string;
  /** UTC; a workspace can set its own. */
  cron: string;
}

/** The service does it by itself, for every workspace that has not switched it off. */
export interface SystemJob extends Shipped {
  kind: 'system';
  agent: null;
  enabled: true;
  /** For one workspace. May be repeated. */
  run: (facts: Facts, customerId: string) => Promise<void>;
}

/** An agent does it, in a run. It costs money, so that a workspace asks for it. */
export interface AgentJob extends Shipped {
  kind: 'agent';
  agent: string;
  enabled: false;
  /** The prompt of the run. */
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
