/** Joins those class names that are given. */
export const cx = (...names: readonly (string | false | undefined | null)[]): string => names.filter(Boolean).join(' ');
