/** The tick of a system schedule. */

/** The server knows the workflow by this type. */
export const RETENTION = 'retention';
