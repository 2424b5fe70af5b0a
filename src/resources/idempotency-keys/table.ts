import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';

/** A request that may be repeated has one row for its workspace, endpoint and key. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /**
     * It references no row of workspaces: a key is gone after a day, and what it is about has a reference of its own.
     */
    customerId: text('customer_id').notNull(),
    /** The id of the endpoint. */
    endpoint: text('endpoint').notNull(),
    /** The SHA-256 of the key. */
    keyHash: text('key_hash').notNull(),
    /** The SHA-256 of what was asked for: path, query and body. */
    requestHash: text('request_hash').notNull(),
    /** The actor that sent the key first, as `actorKey` gives it. */
    caller: text('caller').notNull(),
    /** It is the same in every try. */
    token: uuid('token').notNull(),
    /** The try that is under way, and the time until which it counts as alive. */
    owner: uuid('owner').notNull(),
    leaseUntil: instant('lease_until').notNull(),
    tries: integer('tries').notNull().default(1),
    /** The id of what a try made, written in the transaction that made it. */
    made: text('made'),
    /** The body of the answer, sealed; null until there is one. */
    answer: text('answer'),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.endpoint, t.keyHash] }),
    // Housekeeping deletes rows that are older than a day.
    index('idempotency_keys_by_time').on(t.createdAt),
  ],
);
