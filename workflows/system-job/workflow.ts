/**
 * A job that the service does by itself for each workspace: for one workspace that has its own time for it, or, some
 * hundred at a time, for all those that have none.
 */
import { systemJobs } from '../shared/activities.ts';
import type { SystemJobInput } from './messages.ts';

export async function systemJob({ jobId, customerId }: SystemJobInput): Promise<void> {
  if (customerId !== undefined) {
    await systemJobs.runSystemJob({ jobId, customerId });
    return;
  }
  for (let after: string | null = ''; after !== null;) {
    after = await systemJobs.runSystemJobForPage({ jobId, after });
  }
}
