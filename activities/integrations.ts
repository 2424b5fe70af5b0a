/**
 * Checks in the background whether credentials still work. Nothing of a credential but its id is an argument or a
 * failure.
 */
import { Context } from '@temporalio/activity';
import { slotWait } from '../src/platform/temporal/activity-slots.ts';
import { heartbeating } from './failures.ts';

export interface IntegrationDependencies {
  /** Asks providers about all credentials that are due, or about one. */
  checkCredentials: (which: { tokenId?: string }, signal: AbortSignal) => Promise<void>;
}

export const createIntegrationActivities = ({ checkCredentials }: IntegrationDependencies) => ({
  async checkCredentials(which: { tokenId?: string }): Promise<void> {
    // One that finds its workspace over its share is left to the schedule, which takes workspaces in turn.
    if (slotWait(Context.current().info.attempt)) return;
    await heartbeating((signal) => checkCredentials(which, signal));
  },
});
