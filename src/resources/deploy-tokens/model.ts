/** Words and rules of deploy tokens. */
export const MAX_NAME_LENGTH = 120;
export const MAX_DAYS = 365;
/** So many that can be used, in one workspace. */
export const MAX_LIVE = 20;
