/** Names as every provider takes them. */
import { sha256 } from '../core/crypto.ts';

const MAX_LENGTH = 64;

/**
 * The result is the same for every call, so that a transcript's earlier calls match the declared tools. Names that fit
 * stay as they are.
 */
export function wireName(tool: string): string {
  return /^[\w-]*$/.test(tool) && tool.length <= MAX_LENGTH ? tool : digested(tool);
}

/** @returns the name in letters, digits, `_` and `-`. The digest keeps `a.b` and `a_b` apart. */
const digested = (name: string): string =>
  `${name.replace(/[^\w-]/g, '_').slice(0, MAX_LENGTH - 9)}_${sha256(name).slice(0, 8)}`;

/**
 * Anthropic documents `^[a-zA-Z0-9_.-]{1,64}$` for names of arguments, and refuses the whole request for another.
 * @returns the name that providers are told of an argument
 */
export const wireArgument = (name: string): string => (/^[\w.-]{1,64}$/.test(name) ? name : digested(name));
