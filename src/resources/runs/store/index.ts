/** Every query on the tables of runs, bound to a database. */
import type { Database } from '../../../platform/db/client.ts';
import { acceptRun, withdrawRun } from './accept.ts';
import { release, reserve } from './budgets.ts';
import {
  costRows,
  findRun,
  listEvents,
  listRuns,
  listUnstarted,
  releaseForgotten,
  statsOfLastDay,
  summarizeAgent,
} from './queries.ts';
import { findChildRun, loadToolCall, recordArtifact, recordToolResult, refuseToolCall } from './tool-calls.ts';
import {
  beginRun,
  endRun,
  loadAfterRun,
  loadEarlierExchanges,
  loadRunInTurn,
  noteEvents,
  recordTurn,
} from './turns.ts';

const QUERIES = {
  acceptRun,
  withdrawRun,
  reserve,
  release,
  loadRunInTurn,
  loadEarlierExchanges,
  beginRun,
  noteEvents,
  recordTurn,
  endRun,
  loadAfterRun,
  loadToolCall,
  recordToolResult,
  refuseToolCall,
  findChildRun,
  recordArtifact,
  listRuns,
  findRun,
  listEvents,
  statsOfLastDay,
  costRows,
  summarizeAgent,
  listUnstarted,
  releaseForgotten,
};

type Bound<T> = T extends (db: Database, ...args: infer Args) => infer Result ? (...args: Args) => Result : never;
export type RunStore = { [Name in keyof typeof QUERIES]: Bound<(typeof QUERIES)[Name]> };

export const createRunStore = (db: Database): RunStore =>
  Object.fromEntries(
    Object.entries(QUERIES).map(([name, query]) => [
      name,
      (query as (db: Database, ...args: unknown[]) => unknown).bind(null, db),
    ]),
  ) as RunStore;
