/** Moves a project from planning to active when its workflow begins. */
import type { Database } from '../../../../platform/db/client.ts';
import { SYSTEM, type ProjectStatus } from '../../model.ts';
import { activate, runCommand } from './command.ts';

export const startProject = (db: Database, { projectId }: { projectId: string }): Promise<{ status: ProjectStatus }> =>
  runCommand(db, { projectId }, async (project) => {
    if (project.status === 'planning') await activate(db, project, SYSTEM, {});
    return { status: project.status };
  });
