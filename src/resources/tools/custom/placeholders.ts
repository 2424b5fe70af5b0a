/** Fills `{param}` in the texts of a custom tool: the argument of that name takes its place, and nothing else does. */

const PLACEHOLDER = /\{([^{}]*)\}/g;

type Arguments = Readonly<Record<string, unknown>>;

export const placeholdersIn = (text: string): string[] => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!);

/** @returns what is there literally, whatever the arguments are */
export const withoutPlaceholders = (text: string): string => text.replace(PLACEHOLDER, '');

/** @returns the first placeholder that is no argument of the tool */
export const undeclaredIn = (text: string, schema: Readonly<Record<string, unknown>>): string | undefined => {
  const { properties } = schema;
  const declared = typeof properties === 'object' && properties !== null ? properties : {};
  return placeholdersIn(text).find((name) => !Object.hasOwn(declared, name));
};

/** @returns the argument as text; undefined where it was not given */
const textOf = (args: Arguments, name: string): string | undefined => {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  if (value === undefined || value === null) return undefined;
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
};

/** @returns the first placeholder without an argument */
export const missingIn = (text: string, args: Arguments): string | undefined =>
  placeholdersIn(text).find((name) => textOf(args, name) === undefined);

/** It fills in one pass, so that what an argument says is never looked at again. */
export const fill = (text: string, args: Arguments, encode: (value: string) => string = (value) => value): string =>
  text.replace(PLACEHOLDER, (_, name: string) => encode(textOf(args, name) ?? ''));
