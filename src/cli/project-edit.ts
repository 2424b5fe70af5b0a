/** Adds `aos project edit`: a planner proposes changes, and its plan is shown to whoever decides on it. */
import type { EditSession } from '../../client/src/api.ts';
import type { Cascade } from '../resources/projects/model.ts';
import { openService, type ServiceClient } from './client.ts';
import { changesOf } from './following.ts';
import { CliError, print, printJson } from './output.ts';
import { orMissing, projectPath, readBoard, type Board } from './project-client.ts';
import { printGates } from './project-gate-commands.ts';
import { waitingGates } from './project-gates.ts';

const PLAN_TIMEOUT_MS = 600_000;

/** Returns when the plan waits for a decision, or at once where told not to wait. */
export async function edit(
  projectId: string,
  instruction: string,
  { cascade, wait, json }: { cascade: Cascade; wait: boolean; json?: boolean },
): Promise<void> {
  const service = await openService(process.env);
  const body = { instruction, cascade_mode: cascade };
  const session = await service
    .controlPlane<EditSession>('POST', `${projectPath(projectId)}/edit-sessions`, body)
    .catch(orMissing(`project ${projectId}`));
  if (json) printJson(session);
  if (!wait) {
    if (!json) print(`a planner is at work; its plan will wait in: aos project gates ${projectId}`);
    return;
  }
  const board = await untilPlanned(service, projectId, session);
  if (!json) await printGates(service, board);
}

async function untilPlanned(service: ServiceClient, projectId: string, session: EditSession): Promise<Board> {
  const changes = await changesOf(service, { projectId, kinds: ['project'] });
  try {
    for (const deadline = performance.now() + PLAN_TIMEOUT_MS; performance.now() < deadline;) {
      const board = await readBoard(service, projectId);
      if (waitingGates(board).some(({ id }) => id === session.gate_subtask_id)) return board;
      const status = board.phases.find(({ id }) => id === session.task_id)?.status;
      if (status === 'failed' || board.project.status === 'paused') {
        throw new CliError(`the project paused before there was a plan; see: aos project show ${projectId}`);
      }
      await changes.next();
    }
  } finally {
    changes.stop();
  }
  throw new CliError(`no plan yet; it will wait in: aos project gates ${projectId}`);
}
