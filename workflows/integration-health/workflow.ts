/**
 * Asks a provider what a credential that was just given is worth. Which credentials are due is in Postgres, so whatever
 * is lost here is taken by the next round of housekeeping.
 */
import { chores } from '../shared/activities.ts';
import type { IntegrationHealthInput } from './messages.ts';

export async function integrationHealth({ tokenId }: IntegrationHealthInput): Promise<void> {
  await chores.checkCredentials({ tokenId });
}
