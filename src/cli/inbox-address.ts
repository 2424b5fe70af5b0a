/** Says in words why the service refuses what was sent to it. */
import type { AlreadyAnsweredProblem, ChangedSinceProblem } from '../../client/src/api.ts';
import { CliError, oneLine, shortTime } from './output.ts';
import { ServiceProblem } from './problems.ts';

type Conflict = (ChangedSinceProblem | AlreadyAnsweredProblem)['detail'];

/** Says who answered first, or what changed and has to be read before an answer. */
export function inWords(error: unknown, id: string): unknown {
  if (!(error instanceof ServiceProblem)) return error;
  if (error.status === 404) return new CliError(`there is no wait ${id}; list them with: aos inbox`);
  const conflict = error.detail as Conflict | undefined;
  if (conflict?.code === 'already_answered') {
    const { answer: said, answered_by, answered_at, comment } = conflict;
    const why = comment ? `: ${comment}` : '';
    return new CliError(
      oneLine(`answered already: ${said}, by ${answered_by}, at ${shortTime(answered_at)} UTC${why}`),
    );
  }
  if (conflict?.code !== 'changed_since') return error;
  if (conflict.wait_id === null)
    return new CliError('nothing waits for this answer any more: what it was about moved on');
  return new CliError(
    `what this is about has changed, and is now revision ${conflict.revision}; look at it before you answer:\n  aos inbox show ${conflict.wait_id}`,
  );
}
