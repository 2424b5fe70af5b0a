/** What of the database's failures means that it cannot be reached now, and that the same may work later. */
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { causesOf } from '../core/causes.ts';

/** Postgres could not be reached, or broke off; `cause` is how. Whether a statement under way was carried out is unknown. */
export class DatabaseAway extends Error {
  constructor(cause: Error) {
    super(`the database cannot be reached: ${cause.message}`, { cause });
    this.name = 'DatabaseAway';
  }
}

export const asAway = (error: Error): Error => (error instanceof DatabaseAway ? error : new DatabaseAway(error));

/** Whether it is the database, and not another party that was spoken to meanwhile, that could not be reached. */
export const isDatabaseAway = (error: unknown): boolean =>
  [...causesOf(error)].some(
    (each) =>
      each instanceof DatabaseAway ||
      (each instanceof DrizzleQueryError && each.cause !== undefined && isConnectionBroken(each.cause)),
  );

/** Of Node's sockets. */
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
/** Of Postgres: connection lost (08), shut down, crashed or starting (57P), too many connections, statement too long. */
const SQL_STATES = /^(08...|57P0[1235]|53300|57014|25P0[34])$/;

export function isConnectionBroken(error: Error): boolean {
  const { code } = error as { code?: string };
  if (code !== undefined) return SOCKET_CODES.has(code) || SQL_STATES.test(code);
  return /^Connection terminated|not queryable$|the database did not answer within/.test(error.message);
}
