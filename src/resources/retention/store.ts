/** Runs the statements that delete what is old. Each resource declares those of its tables. */
import { sql } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import type { RetainedKind, RetentionStatement } from '../../platform/db/retained.ts';
import { RETAINED } from '../retained.ts';

export type RetentionStore = ReturnType<typeof createRetentionStore>;

const statementsOf = (kind: RetainedKind): readonly RetentionStatement[] =>
  RETAINED.flatMap((retained) => retained[kind] ?? []);

export const STATEMENTS: Readonly<Record<RetainedKind, readonly RetentionStatement[]>> = {
  run_details: statementsOf('run_details'),
  events: statementsOf('events'),
  deliveries: statementsOf('deliveries'),
  otp: statementsOf('otp'),
  idempotency_keys: statementsOf('idempotency_keys'),
  audit: statementsOf('audit'),
};

export const createRetentionStore = (db: Database) => ({
  /** By the clock of the database, as the rows' own times are. */
  async now(): Promise<Date> {
    const { now } = first(await db.rows<{ now: string }>(sql`select now()::text as now`));
    return new Date(now);
  },

  /** @returns how many rows the statement deleted */
  async delete(statement: RetentionStatement, before: Date, limit: number): Promise<number> {
    const { deleted } = first(await db.rows<{ deleted: number }>(statement(before, limit)));
    return deleted;
  },
});
