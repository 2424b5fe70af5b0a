import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';

/** A request that may be repeated: one row a workspace, endpoint and key. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** Without a reference: a row is gone after a day, and what it is about has its own. */
    customerId: text('customer_id').notNull(),
    /** Id of the endpoint. */
    endpoint: text('endpoint').notNull(),
    /** SHA-256 of the key. */
    keyHash: text('key_hash').notNull(),
    /** SHA-256 of what was asked for: path, query and body. */
    requestHash: text('request_hash').notNull(),
    /** The same in every try. */
    token: uuid('token').notNull(),
    /** The try that is under way, and until when it is taken to be alive. */
    owner: uuid('owner').notNull(),
    leaseUntil: instant('lease_until').notNull(),
    tries: integer('tries').notNull().default(1),
    /** Id of what a try made, from the transaction that made it. */
    made: text('made'),
    /** Body of the answer, sealed; null until there is one. */
    answer: text('answer'),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.endpoint, t.keyHash] }),
    // Housekeeping deletes what is older than a day.
    index('idempotency_keys_by_time').on(t.createdAt),
  ],
);
