/** How customers are looked for. */

/**
 * @returns a pattern for `ilike` in which the text stands for itself: characters with a meaning in patterns are escaped
 */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
