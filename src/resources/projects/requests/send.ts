/** Takes a command to the workflow of its project, as an update, and starts the workflow anew where it has closed. */
import type { UpdateDefinition } from '@temporalio/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { newUuid } from '../../../platform/core/ids.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { Claim } from '../../../platform/http/once-only.ts';
import type { Temporal } from '../../../platform/temporal/client.ts';
import {
  isUpdateLost,
  namedIfUnreachable,
  rethrowAsProblem,
  withinDeadline,
} from '../../../platform/temporal/problems.ts';
import { projectWorkflowId, type CommandTexts } from '../model.ts';
import type { ProjectStarter } from '../start.ts';
import type { ProjectStore } from '../store/index.ts';
import { createQueue } from './queue.ts';

export interface SenderDependencies {
  temporal: Temporal;
  store: ProjectStore;
  starter: ProjectStarter;
}

/**
 * An update may find its workflow closing, or the server may drop it when there are many. Both are rare, and hardly
 * ever happen twice in a row.
 */
const MAX_TRIES = 5;
const PAUSE_MS = 50;

export const createSender = ({ temporal, store, starter }: SenderDependencies) => {
  const inTurn = createQueue();

  /**
   * The first attempt assumes that the workflow is open, as it nearly always is, because starting it means loading the
   * whole board.
   */
  async function again<T>(attempt: (isClosed: boolean) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(tries > 1);
      } catch (error) {
        if (!isUpdateLost(error)) throw error;
        if (tries === MAX_TRIES) throw new Problem('runtime_unreachable');
        if (tries > 1) await sleep(tries * PAUSE_MS);
      }
    }
  }

  const handleOf = (projectId: string) => temporal.client.workflow.getHandle(projectWorkflowId(projectId));

  /**
   * Gives each request an update id of its own, because a repeated request must get a 409 and not the answer to the
   * first. All attempts at one request share the id: an attempt whose answer was lost may have been recorded, and the
   * next one then gets its result. A request with an idempotency key takes its id from the key's token in the record.
   */
  const prepare = <Args>(args: Args, claim?: Claim) => ({
    args: [args] as [Args],
    updateId: claim?.token ?? newUuid(),
  });

  /**
   * Answers when the update is complete.
   * @param options.texts are the caller's own words, which are kept under the id of the update and out of its history
   * @param options.check refuses, when its turn comes, what the record shows to be too late. Without it, each of many
   * losing commands would take the time of an update, until the last ones are told that the runtime does not answer
   */
  const send = <Result, Args>(
    projectId: string,
    update: UpdateDefinition<Result, [Args]>,
    args: Args,
    { texts, check, claim }: { texts?: CommandTexts; check?: () => Promise<void>; claim?: Claim | undefined } = {},
  ): Promise<Result> => {
    const prepared = prepare(args, claim);
    let isTextKept = texts === undefined || Object.values(texts).every((text) => text === undefined || text === null);
    let isChecked = claim?.isRepeated ?? false;
    const attempt = async (isClosed: boolean) => {
      // The check runs once only, because an attempt whose answer was lost may itself have changed what it looks at.
      if (!isChecked) await check?.();
      isChecked = true;
      if (!isTextKept) await store.keepCommandTexts({ projectId, commandId: prepared.updateId }, texts!);
      isTextKept = true;
      if (!isClosed) return handleOf(projectId).executeUpdate(update, prepared);
      const startWorkflowOperation = await starter.operation(projectId);
      return temporal.client.workflow.executeUpdateWithStart(update, { ...prepared, startWorkflowOperation });
    };
    const inItsTurn = (isClosed: boolean) => inTurn(projectId, () => attempt(isClosed));
    return withinDeadline(temporal, () => again(inItsTurn)).catch(rethrowAsProblem);
  };

  /**
   * Answers when the update is complete, however long that takes. Only its acceptance has to come within the deadline.
   */
  const sendLong = <Result, Args>(projectId: string, update: UpdateDefinition<Result, [Args]>, args: Args) => {
    const prepared = { ...prepare(args), waitForStage: 'ACCEPTED' as const };
    const attempt = async (isClosed: boolean) => {
      if (!isClosed) return handleOf(projectId).startUpdate(update, prepared);
      const startWorkflowOperation = await starter.operation(projectId);
      return temporal.client.workflow.startUpdateWithStart(update, { ...prepared, startWorkflowOperation });
    };
    return again(async (isClosed) => {
      const accepted = await withinDeadline(temporal, () => inTurn(projectId, () => attempt(isClosed)));
      return accepted.result().catch((error: unknown) => {
        throw namedIfUnreachable(error);
      });
    }).catch(rethrowAsProblem);
  };

  return { send, sendLong };
};
