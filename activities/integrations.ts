/** The health of credentials, in the background. Nothing of a credential but its id is an argument or a failure. */
import { heartbeating } from './failures.ts';

export interface IntegrationDependencies {
  /** Asks providers about what is due, or about one token. */
  checkCredentials: (which: { tokenId?: string }, signal: AbortSignal) => Promise<void>;
}

export const createIntegrationActivities = ({ checkCredentials }: IntegrationDependencies) => ({
  checkCredentials: (which: { tokenId?: string }): Promise<void> =>
    heartbeating((signal) => checkCredentials(which, signal)),
});
