/** The statuses of projects, phases, steps and attempts as SQL, made from the model's. Each is for `status in`. */
import { sql, type SQL } from 'drizzle-orm';
import { wordList } from '../../../platform/db/word-list.ts';
import {
  ATTEMPT_STATUSES,
  isAttemptOpen,
  isDone,
  isGoing,
  isInFlight,
  isTaskOpen,
  isTerminal,
  PROJECT_STATUSES,
  TASK_STATUSES,
} from '../model.ts';

/** The project is not over. */
export const OPEN_PROJECT = wordList(PROJECT_STATUSES.filter((status) => !isTerminal(status)));
/** Work on the project begins by itself. */
export const GOING_PROJECT = wordList(PROJECT_STATUSES.filter(isGoing));

/** The phase or step lets what is behind it begin. */
export const DONE = wordList(TASK_STATUSES.filter(isDone));
/** The phase is in the hands of a phase workflow; the step has begun and not ended. */
export const IN_FLIGHT = wordList(TASK_STATUSES.filter(isInFlight));
/** The phase or step is still to end. */
export const OPEN_TASK = wordList(TASK_STATUSES.filter(isTaskOpen));

/** The attempt is still to end. */
export const OPEN_ATTEMPT = wordList(ATTEMPT_STATUSES.filter(isAttemptOpen));

/** The status of the project of another row. It is looked up row by row, so that a plan begins with these rows. */
export const statusOfProject = (projectId: SQL): SQL =>
  sql`(select p.status from projects p where p.id = ${projectId})`;
