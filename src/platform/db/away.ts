/**
 * Tells failures of the database that mean "not reachable now", after which the same statement may work later, from all
 * others.
 */
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { causesOf, errorCodeOf } from '../core/causes.ts';

/**
 * Postgres could not be reached, or broke off; `cause` says how. Nobody knows whether the statement under way was
 * carried out.
 */
export class DatabaseAway extends Error {
  constructor(cause: Error) {
    super(`the database cannot be reached: ${cause.message}`, { cause });
    this.name = 'DatabaseAway';
  }
}

export const asAway = (error: Error): Error => (error instanceof DatabaseAway ? error : new DatabaseAway(error));

/** @returns whether the database could not be reached, as opposed to another party that was spoken to meanwhile */
export const isDatabaseAway = (error: unknown): boolean =>
  [...causesOf(error)].some(
    (each) =>
      each instanceof DatabaseAway ||
      (each instanceof DrizzleQueryError && each.cause !== undefined && isConnectionBroken(each.cause)),
  );

/** Node's sockets report these. */
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/**
 * Postgres reports these: connection lost (08), shut down, crashed or starting (57P), too many connections (53300), a
 * statement or a transaction that took too long (57014, 25P0x).
 */
const SQL_STATES = /^(08...|57P0[1235]|53300|57014|25P0[34])$/;

export function isConnectionBroken(error: Error): boolean {
  const code = errorCodeOf(error);
  if (code !== undefined) return SOCKET_CODES.has(code) || SQL_STATES.test(code);
  return /^Connection terminated|not queryable$|the database did not answer within/.test(error.message);
}
