/** What jobs that ship can read and change in a workspace. */
import { bindQueries, type Bound } from '../../../platform/db/bind.ts';
import type { Database } from '../../../platform/db/client.ts';
import { recheckCredentials } from '../../integrations/store.ts';
import { memoriesToReview } from '../../memory/store/to-review.ts';
import { failuresOfYesterday, runsOfYesterday } from '../../runs/store/yesterday.ts';

const QUERIES = { runsOfYesterday, failuresOfYesterday, memoriesToReview, recheckCredentials };

export type Facts = Bound<typeof QUERIES>;
export const createFacts = (db: Database): Facts => bindQueries(db, QUERIES);
