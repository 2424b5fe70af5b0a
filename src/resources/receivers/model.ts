/**
 * Words of everything that is delivered to a host of somebody else. Delivery workflows use them too, so nothing here
 * asks the world.
 */

/** The host has no place for a delivery now; it says when to try again. */
export interface Later {
  waitMs: number;
  /** This activity made so many attempts before. */
  made: number;
}

/** Says that the caller knows what to do with `Later` or `SlotWait`; others are not asked to wait. */
export interface WaitsForSlots {
  mayWait?: boolean;
}
