/**
 * Asks providers what the credentials of their integrations are worth: the tick of a system schedule, and a look at
 * one that was just given. Which are due is in Postgres, so whatever is lost here is taken by the next tick.
 */
import { chores } from '../shared/activities.ts';
import type { IntegrationHealthInput } from './messages.ts';

export async function integrationHealth({ tokenId }: IntegrationHealthInput = {}): Promise<void> {
  await chores.checkCredentials({ ...(tokenId && { tokenId }) });
}
