/** Starts the workflow of a project, when the project is accepted and when a command finds the workflow closed. */
import { WithStartWorkflowOperation } from '@temporalio/client';
import { PROJECT, type ProjectInput } from '../../../workflows/project/messages.ts';
import type { project } from '../../../workflows/project/workflow.ts';
import type { Config } from '../../platform/core/config.ts';
import { priorityOf } from '../../platform/core/priority.ts';
import { found } from '../../platform/db/client.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { searchAttributes } from '../../platform/temporal/search-attributes.ts';
import { createStarter } from '../../platform/temporal/starting.ts';
import { areQueuesSplit, queueName } from '../../platform/temporal/task-queues.ts';
import { projectWorkflowId } from './model.ts';
import type { ProjectBoard } from './store/queries.ts';
import type { ProjectStore } from './store/index.ts';

export interface ProjectStarterDependencies {
  temporal: Temporal;
  store: ProjectStore;
  config: Pick<Config, 'RUN_MAX_TURNS' | 'RUN_MAX_TOKENS' | 'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES'>;
}

export type ProjectStarter = ReturnType<typeof createProjectStarter>;

export const createProjectStarter = ({ temporal, store, config }: ProjectStarterDependencies) => {
  const inputOf = (board: ProjectBoard): ProjectInput => ({
    ...board,
    limits: { maxTurns: config.RUN_MAX_TURNS, maxTokens: config.RUN_MAX_TOKENS },
    split: areQueuesSplit(config),
  });

  const optionsOf = (board: ProjectBoard) => ({
    workflowId: projectWorkflowId(board.projectId),
    taskQueue: queueName(config, 'orchestration'),
    args: [inputOf(board)] as [ProjectInput],
    typedSearchAttributes: searchAttributes(board),
    staticSummary: board.title,
    staticDetails: `Project \`${board.projectId}\` of workspace \`${board.workspaceId}\``,
    priority: priorityOf(board.customerId, 'commands'),
  });

  const load = async (projectId: string) => found(await store.loadBoard(projectId));

  const startOnce = createStarter(store.noteStarted);

  /** @returns whether it started */
  async function start(
    board: ProjectBoard,
    workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
  ): Promise<boolean> {
    return startOnce(board.projectId, () =>
      temporal.client.workflow.start<typeof project>(PROJECT, {
        ...optionsOf(board),
        // A worker in this process, where there is one, gets the first task at once, which spares a round trip through
        // the server.
        requestEagerStart: true,
        workflowIdReusePolicy,
      }),
    );
  }

  return {
    /** Starts a project that was just planned. For a project that runs or has run it does nothing. */
    startPlanned: (board: ProjectBoard): Promise<boolean> => start(board, 'REJECT_DUPLICATE'),

    /** Does the same for one of which only the id is known. */
    start: async (projectId: string): Promise<boolean> => start(await load(projectId), 'REJECT_DUPLICATE'),

    /** Starts a project that Temporal has lost again. It goes on from its record and recovers its phases. */
    startAgain: async (projectId: string): Promise<boolean> => start(await load(projectId), 'ALLOW_DUPLICATE'),

    /**
     * Prepares the start that goes with a command. The workflow of a completed project has closed, and an operator may
     * have terminated another. Such a workflow starts again with the board that the record has. The value serves for
     * one call only.
     */
    operation: async (projectId: string) =>
      new WithStartWorkflowOperation<typeof project>(PROJECT, {
        ...optionsOf(await load(projectId)),
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      }),
  };
};
