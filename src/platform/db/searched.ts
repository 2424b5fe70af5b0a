/** How a search shows what it finds. */
import type { SQL } from 'drizzle-orm';

/**
 * Selects what a document `p` of the index is of, bound to the workspace: `id`, `title`, `status`, `agent`, `run_id`,
 * `project_id`, `job_n`, `thread_id`, and the `names` and `texts` of its fields.
 */
export type Searched = (customerId: string) => SQL;
