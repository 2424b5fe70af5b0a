/** What the workflows of projects write, bound to a database. Nothing of it is for a caller: no query takes the workspace. */
import type { Database } from '../../../../platform/db/client.ts';
import { readCommandTexts } from '../command-texts.ts';
import * as commands from '../commands/index.ts';
import { loadBoard } from '../queries.ts';
import { openAndBegin, settleAndGoOn } from './advance.ts';
import { beginAttempt, loadActionContext, saveActionOutput } from './begin.ts';
import { closePhase } from './open.ts';
import { noteTurn } from './progress.ts';

export type { Settlement } from './advance.ts';
export type { Dispatch } from './begin.ts';
export type { ResolvedGate } from '../commands/gates.ts';

const WRITES = {
  ...commands,
  readCommandTexts,
  loadBoard,
  openAndBegin,
  beginAttempt,
  settleAndGoOn,
  closePhase,
  loadActionContext,
  saveActionOutput,
  noteTurn,
};

type Bound<T> = T extends (db: Database, ...args: infer Args) => infer Result ? (...args: Args) => Result : never;
export type ProjectEngine = { [Name in keyof typeof WRITES]: Bound<(typeof WRITES)[Name]> };

export const createProjectEngine = (db: Database): ProjectEngine =>
  Object.fromEntries(
    Object.entries(WRITES).map(([name, write]) => [
      name,
      (write as (db: Database, ...args: unknown[]) => unknown).bind(null, db),
    ]),
  ) as ProjectEngine;
