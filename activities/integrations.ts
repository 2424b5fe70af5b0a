/**
 * Checks in the background whether credentials still work. Nothing of a credential but its id is an argument or a
 * failure.
 */
import { heartbeating } from './failures.ts';

export interface IntegrationDependencies {
  /** Asks providers about all credentials that are due, or about one. */
  checkCredentials: (which: { tokenId?: string }, signal: AbortSignal) => Promise<void>;
}

export const createIntegrationActivities = ({ checkCredentials }: IntegrationDependencies) => ({
  checkCredentials: (which: { tokenId?: string }): Promise<void> =>
    heartbeating((signal) => checkCredentials(which, signal)),
});
