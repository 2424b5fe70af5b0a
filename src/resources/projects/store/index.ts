/** Binds what the service asks of the record of projects to a database. */
import { bindQueries, type Bound } from '../../../platform/db/bind.ts';
import type { Database } from '../../../platform/db/client.ts';
import { keepCommandTexts } from './command-texts.ts';
import { pauseEnded } from '../control/pause-ended.ts';
import { delegateGate } from '../decisions/delegate-gate.ts';
import { createProject, updateProject, withdrawProject } from './create.ts';
import {
  askAboutAll,
  askAgain,
  loadChecked,
  loadUnstarted,
  noteStarted,
  takeUnchecked,
  takeUnstarted,
} from './lost.ts';
import { listOpenProjects } from './open.ts';
import * as queries from './queries.ts';
import { loadStops } from './stops.ts';
import { remindOfWait } from './waits.ts';

const QUERIES = {
  keepCommandTexts,
  createProject,
  updateProject,
  withdrawProject,
  takeUnstarted,
  loadUnstarted,
  noteStarted,
  takeUnchecked,
  loadChecked,
  askAgain,
  askAboutAll,
  pauseEnded,
  listOpenProjects,
  delegateGate,
  remindOfWait,
  loadStops,
  ...queries,
};

export type ProjectStore = Bound<typeof QUERIES>;
export const createProjectStore = (db: Database): ProjectStore => bindQueries(db, QUERIES);
