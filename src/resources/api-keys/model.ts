/** Words and rules of API keys. */

export const MAX_NAME_LENGTH = 120;

/** @returns what identifies a key to a person: enough to recognise it, far too little to use it */
export const prefixOf = (secret: string): string => secret.slice(0, 12);

/** The last use of a key is kept to the minute, so that a busy key is written once a minute and not once a request. */
export const minuteOf = (now: Date): Date => new Date(Math.floor(now.getTime() / 60_000) * 60_000);
