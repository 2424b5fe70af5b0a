/**
 * Charges workspaces for the minutes of their managed infrastructure: the tick of a system schedule. What is charged up
 * to when is in Postgres, so a tick that is lost is made up for by the next one.
 */
import { chores } from '../shared/activities.ts';

export async function metering(): Promise<void> {
  await chores.chargeInfrastructure();
}
