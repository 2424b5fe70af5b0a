/** The start of a tick, as a schedule makes it. */
import type { RunLimits } from '../../src/resources/runs/model.ts';

export interface ScheduledJobInput {
  customerId: string;
  workspaceId: string;
  /** The row that says what to run; it is read when the time has come. */
  source: { kind: 'job'; n: number } | { kind: 'heartbeat'; id: string } | { kind: 'builtin'; id: string };
  limits: RunLimits;
  split: boolean;
}

export const SCHEDULED_JOB = 'scheduledJob';
