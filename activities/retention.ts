/** Deletes what is older than it is kept, and stops between two statements when its worker does. */
import { heartbeating } from './failures.ts';

export interface RetentionDependencies {
  /** @returns how many rows were deleted */
  enforceRetention: (signal: AbortSignal) => Promise<number>;
}

export const createRetentionActivities = ({ enforceRetention }: RetentionDependencies) => ({
  enforceRetention: (): Promise<number> => heartbeating(enforceRetention),
});
