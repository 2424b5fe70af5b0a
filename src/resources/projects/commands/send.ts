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

/** An update may find its workflow closing, or be passed over among many: now and then, hardly ever twice. */
const MAX_TRIES = 5;
const PAUSE_MS = 50;

export const createSender = ({ temporal, store, starter }: SenderDependencies) => {
  const inTurn = createQueue();

  /** The first attempt takes the workflow to be open, as it nearly always is: starting it takes the whole board. */
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
   * An id of its own for each request: a repeated one would be told the first answer, where it must hear a 409. The same
   * for each attempt at it: one that was lost may have been recorded, and is then told what it came to. So is a request
   * that is told apart by a key: the record knows its token.
   */
  const prepare = <Args>(args: Args, claim?: Claim) => ({
    args: [args] as [Args],
    updateId: claim?.token ?? newUuid(),
  });

  /**
   * Answers when the update is through.
   * @param options.texts what the caller says in its own words; kept under the id of the update, out of its history
   * @param options.check refuses, once it is its turn, what the record shows to be too late: of many commands at once those
   * that have lost would otherwise each take an update's time, until the last ones hear that the runtime does not answer
   */
  const send = <Result, Args>(
    projectId: string,
    update: UpdateDefinition<Result, [Args]>,
    args: Args,
    { texts, check, claim }: { texts?: CommandTexts; check?: () => Promise<void>; claim?: Claim | undefined } = {},
  ): Promise<Result> => {
    const prepared = prepare(args, claim);
    let isTextKept = texts === undefined;
    let isChecked = claim?.isRepeated ?? false;
    const attempt = async (isClosed: boolean) => {
      // Not again: an attempt that was lost may have been what made it too late.
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

  /** Answers when the update is through, however long that takes; that it was taken is known within the deadline. */
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
