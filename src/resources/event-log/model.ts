/** Words and rules of the log of a workspace: its kinds of events, and where one stands in it. */

/**
 * - `run`: a row of a run's timeline
 * - `project`: a row of a project's feed
 * - `wait`: something stands still until somebody outside says something (`opened`, by triggers of the table), was changed
 *   meanwhile (`revised`), or stands still no longer (`settled`)
 * - `delivery`: a signed webhook came to its end (`delivered`, `failed`)
 * - `output`: an artifact that was sent to an output destination came to its end (`delivered`, `failed`)
 * - `schedule`: a scheduled job or heartbeat fired a run (`fired`), could not (`missed`), or was switched (`switched_on`,
 *   `switched_off`)
 * - `spending`: so much of a cap is spent (`threshold`), or a call had no known price (`unpriced`)
 * - `integration`: what a check found a credential to be, where that is another thing than before
 * - `start`: Temporal could not be asked to start a run that was told of already, and the run was withdrawn (`refused`)
 */
export const EVENT_KINDS = [
  'run',
  'project',
  'wait',
  'delivery',
  'output',
  'schedule',
  'spending',
  'integration',
  'start',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];
/** Kinds without a table of events of their own; their events are rows of `log_events`. */
export type LoggedKind = Exclude<EventKind, 'run' | 'project'>;

/** A place in the order of a workspace's events: what is after it has a greater `tx`, or the same and a greater `seq`. */
export interface Place {
  /** The number of the transaction that wrote the event, counted on over restores into another database server. */
  tx: number;
  /** The number of the event among all events; 0 stands before all events of the transaction. */
  seq: number;
}

export const BEGINNING: Place = { tx: 0, seq: 0 };

export const isAfter = (a: Place, b: Place): boolean => a.tx > b.tx || (a.tx === b.tx && a.seq > b.seq);

/** @returns the place as callers see it: opaque to them, with the version of its form first */
export const cursorOf = ({ tx, seq }: Place): string => `1-${tx.toString(36)}-${seq.toString(36)}`;

/** @returns undefined for a text that is no cursor of this service */
export function placeOf(cursor: string): Place | undefined {
  const [, tx, seq] = /^1-([0-9a-z]{1,10})-([0-9a-z]{1,10})$/.exec(cursor) ?? [];
  if (tx === undefined || seq === undefined) return undefined;
  return { tx: parseInt(tx, 36), seq: parseInt(seq, 36) };
}
