/** The command `pauseEnded`. */
import type { Database } from '../../../platform/db/client.ts';
import { pauseLocked } from '../store/record.ts';
import { runCommand } from './run-command.ts';

/**
 * Pauses a project whose workflow was ended by hand. A person decides whether it goes on, and the pause tells them the
 * reason.
 */
export const pauseEnded = (db: Database, projectId: string, how: string): Promise<void> =>
  runCommand(db, { projectId }, (project) =>
    pauseLocked(db, project, 'nothing_dispatchable', { workflow: how, hint: 'resume it to go on from its record' }),
  );
