/**
 * Refuses updates that can never be carried out; what depends on the record is refused under its lock. Validators are
 * synchronous on purpose: a throw in an asynchronous one fails the workflow task and hangs the caller.
 */
import { ApplicationFailure } from '@temporalio/workflow';
import type { ProblemCode } from '../../src/platform/core/problem.ts';
import type { ProjectStatus } from '../../src/resources/projects/model.ts';
import type { createBoard } from './board.ts';
import { findUpdateFault, type UpdateField } from './check-update.ts';
import type { Command } from './messages.ts';

export function createValidators(
  { find }: Pick<ReturnType<typeof createBoard>, 'find'>,
  readStatus: () => ProjectStatus,
) {
  const unlessEnded =
    (...required: UpdateField[]) =>
    (command: Command): void => {
      const fault = findUpdateFault(command, required);
      if (fault) throw refusal('bad_request', fault);
      if (readStatus() === 'abandoned') throw refusal('project_ended', 'the project was abandoned');
    };

  /** @returns a validator of updates that name a phase */
  const onPhase =
    (...required: UpdateField[]) =>
    (command: Command & { phaseSlug: string }): void => {
      unlessEnded('phaseSlug', ...required)(command);
      const { phaseSlug } = command;
      if (!find(phaseSlug)) throw refusal('not_found', `the project has no phase ${phaseSlug}`);
    };

  return { unlessEnded, onPhase };
}

const refusal = (code: ProblemCode, message: string) => ApplicationFailure.nonRetryable(message, code);
