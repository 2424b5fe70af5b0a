/** Lets a person stop a project: from the moment this commits no further step begins. */
import { Problem } from '../../../platform/core/problem.ts';
import type { Database } from '../../../platform/db/client.ts';
import { isTerminal, type Actor } from '../model.ts';
import { pauseLocked } from '../store/record.ts';
import { runCommand } from './run-command.ts';

/** @throws Problem not_found, project_not_active */
export const pauseProject = (
  db: Database,
  { projectId, actor, commandId }: { projectId: string; actor: Actor; commandId: string },
): Promise<{ status: 'paused' }> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    const { status } = project;
    if (isTerminal(status)) {
      throw new Problem('project_not_active', `the project is ${status}`);
    }
    await pauseLocked(db, project, 'requested', { actor });
    return { status: 'paused' };
  });
