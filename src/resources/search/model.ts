/** Words of the search over a workspace: what is found, and how a page goes on. */
import { PROJECT_STATUSES } from '../projects/model.ts';
import { RUN_STATUSES } from '../runs/model.ts';

/**
 * - `run`: by its prompt, output and error
 * - `project`: by its title and brief
 * - `artifact`: a version of what a phase made, by its content
 * - `file`: what a run saved, or what was attached to a project, a scheduled job or a conversation, by its name
 * - `event`: by what it says: of a project an error, feedback, a comment, an instruction; of a run a tool that failed, a call of a model that
 *   was tried again or cut off
 *
 * All of them by their ids too, whole or by their beginnings.
 */
export const SEARCH_KINDS = ['run', 'project', 'artifact', 'file', 'event'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** Only runs and projects have one. */
export const SEARCH_STATUSES = [...new Set([...RUN_STATUSES, ...PROJECT_STATUSES])];
export type SearchStatus = (typeof SEARCH_STATUSES)[number];

/** So many characters of a text are searched; `search_words` of the database has the number too. */
export const SEARCHED_CHARACTERS = 50_000;

/** So many of the newest documents that match are ranked among each other; older ones come after them, as many at a time. */
export const RANKED = 500;

/** A document in the order of time; `at` in microseconds since 1970, as a text of digits. */
export interface Moment {
  at: string;
  id: string;
}

/** Where a page ends. */
export interface SearchPlace {
  /** The newest document of those ranked; where none of them has been shown yet, the one that they are older than. */
  newest: Moment | null;
  /** The last document of the page, with its rank; null where none of those ranked has been shown yet. */
  after: (Moment & { rank: number }) | null;
}

export const BEGINNING: SearchPlace = { newest: null, after: null };

const MOMENT = /^(\d{1,17})~(\S{1,300})$/;

/** @returns the place as callers see it: opaque to them */
export const cursorOf = ({ newest, after }: SearchPlace): string =>
  Buffer.from(
    [newest ? `${newest.at}~${newest.id}` : '', ...(after ? [String(after.rank), `${after.at}~${after.id}`] : [])].join(
      ' ',
    ),
  ).toString('base64url');

/** @returns undefined for a text that is no cursor of this service */
export function placeOf(cursor: string): SearchPlace | undefined {
  const [newest, rank, after, ...more] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const from = momentOf(newest);
  if (!from || more.length > 0) return undefined;
  if (rank === undefined) return { newest: from, after: null };
  const last = momentOf(after);
  return last && /^[\d.e-]{1,30}$/.test(rank) && Number.isFinite(Number(rank))
    ? { newest: from, after: { ...last, rank: Number(rank) } }
    : undefined;
}

function momentOf(text: string | undefined): Moment | undefined {
  const [, at, id] = MOMENT.exec(text ?? '') ?? [];
  return at === undefined || id === undefined ? undefined : { at, id };
}
