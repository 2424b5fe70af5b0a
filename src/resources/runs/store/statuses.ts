/** The statuses of runs as SQL, made from the model's. */
import { wordList } from '../../../platform/db/word-list.ts';
import { OPEN_STATUSES, TERMINAL_STATUSES } from '../model.ts';

/** For `status in`: the run is not over. */
export const OPEN_RUN = wordList(OPEN_STATUSES);
/** For `status in`: the run is over. */
export const TERMINAL_RUN = wordList(TERMINAL_STATUSES);
