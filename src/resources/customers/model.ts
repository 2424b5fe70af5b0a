/** How customers are looked for. Pure. */

/** For `ilike`: what the text has a meaning for is taken as it is. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
