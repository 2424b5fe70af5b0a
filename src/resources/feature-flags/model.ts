/** Words and rules of feature flags. */

/** A name is in lower case, its parts joined by `.`, `-` or `_`: `chat.voice-notes`. */
export const FLAG_NAME = /^[a-z][a-z0-9]*([._-][a-z0-9]+)*$/;
export const MAX_FLAG_NAME = 64;

interface Switch {
  enabled: boolean;
  /** Exceptions by customer id. */
  workspaces: Readonly<Record<string, boolean>>;
}

/** @returns whether a flag is on for one workspace */
export const isOnFor = ({ enabled, workspaces }: Switch, customerId: string): boolean =>
  Object.hasOwn(workspaces, customerId) ? workspaces[customerId]! : enabled;
