/** The tick of a system schedule. */

/** The workflow's type, as the server knows it. */
export const RETENTION = 'retention';
