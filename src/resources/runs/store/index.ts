/** All queries on the tables of runs, bound to a database. */
import { bindQueries, type Bound } from '../../../platform/db/bind.ts';
import type { Database } from '../../../platform/db/client.ts';
import { acceptRun, withdrawRun } from './accept.ts';
import { release, reserve } from './budgets.ts';
import {
  costRows,
  findRun,
  findWait,
  listEvents,
  listRuns,
  releaseForgotten,
  statsOfLastDay,
  summarizeAgent,
} from './queries.ts';
import {
  askAboutAll,
  loadChecked,
  loadUnstarted,
  noteStarted,
  refuseUnknownCalls,
  takeUnchecked,
  takeUnstarted,
} from './lost.ts';
import { listOpenRuns } from './open.ts';
import { askOrRefuse, isToolCallOver, settleLostEffect } from './lost-effects.ts';
import { loadEarlierExchanges, loadRunInTurn } from './run-in-turn.ts';
import { childrenOf, readTimeline, readTranscript, showRun } from './show.ts';
import { countByStatus, listFailures, searchRuns } from './search.ts';
import { findChildRun, loadToolCall, recordArtifact, recordToolResult, refuseToolCall } from './tool-calls.ts';
import { beginRun, endRun, failOver, loadAfterRun, noteEvents, recordAbortedCall, recordTurn } from './turns.ts';

const QUERIES = {
  acceptRun,
  withdrawRun,
  reserve,
  release,
  loadRunInTurn,
  loadEarlierExchanges,
  beginRun,
  failOver,
  noteEvents,
  recordTurn,
  recordAbortedCall,
  endRun,
  loadAfterRun,
  loadToolCall,
  recordToolResult,
  refuseToolCall,
  findChildRun,
  recordArtifact,
  listRuns,
  listOpenRuns,
  searchRuns,
  listFailures,
  countByStatus,
  showRun,
  childrenOf,
  readTimeline,
  readTranscript,
  findRun,
  findWait,
  listEvents,
  statsOfLastDay,
  costRows,
  summarizeAgent,
  releaseForgotten,
  takeUnstarted,
  loadUnstarted,
  noteStarted,
  takeUnchecked,
  loadChecked,
  askAboutAll,
  refuseUnknownCalls,
  askOrRefuse,
  isToolCallOver,
  settleLostEffect,
};

export type RunStore = Bound<typeof QUERIES>;
export const createRunStore = (db: Database): RunStore => bindQueries(db, QUERIES);
