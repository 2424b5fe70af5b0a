/** What holds for everything that is delivered to a host of somebody else. Pure: the delivery workflows use it too. */

/** A delivery that its host has no place for: when to try again. */
export interface Later {
  waitMs: number;
  /** Attempts that were made before, of this activity. */
  made: number;
}

/** The caller knows what to do with `Later`; others are not asked to wait. */
export interface Patience {
  mayWait?: boolean;
}
