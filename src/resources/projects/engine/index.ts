/**
 * Binds the writes of the projects' workflows to a database. No caller can reach them, so they do not take the
 * workspace.
 */
import { bindQueries, type Bound } from '../../../platform/db/bind.ts';
import type { Database } from '../../../platform/db/client.ts';
import { readCommandTexts } from '../store/command-texts.ts';
import * as commands from '../commands.ts';
import { loadBoard } from '../store/queries.ts';
import { openAndBegin, settleAndGoOn } from './advance.ts';
import { beginAttempt, loadActionContext, saveActionOutput } from './begin.ts';
import { closePhase } from './close.ts';
import { readPhase } from './open.ts';
import { noteTurn } from './progress.ts';

export type { Settlement } from './advance.ts';
export type { AttemptRequest } from './begin.ts';

const WRITES = {
  ...commands,
  readCommandTexts,
  loadBoard,
  openAndBegin,
  beginAttempt,
  settleAndGoOn,
  readPhase,
  closePhase,
  loadActionContext,
  saveActionOutput,
  noteTurn,
};

export type ProjectEngine = Bound<typeof WRITES>;
export const createProjectEngine = (db: Database): ProjectEngine => bindQueries(db, WRITES);
