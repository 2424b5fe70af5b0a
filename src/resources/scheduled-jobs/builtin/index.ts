/** The jobs that ship, in the order of the list: system, then agent. */
import { dailyDigest } from './daily-digest.ts';
import type { BuiltinJob } from './define.ts';
import { integrationHealth } from './integration-health.ts';
import { memoryReview } from './memory-review.ts';

export const builtinJobs: ReadonlyMap<string, BuiltinJob> = new Map(
  [integrationHealth, dailyDigest, memoryReview].map((job) => [job.id, job]),
);
