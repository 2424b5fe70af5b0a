import { index, pgTable, serial, text } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';

export const apiKeys = pgTable(
  'api_keys',
  {
    id: serial('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    name: text('name').notNull(),
    /** The SHA-256 of the secret; the secret itself is stored nowhere. */
    keyHash: text('key_hash').notNull().unique(),
    keyPrefix: text('key_prefix').notNull(),
    createdAt: createdAt(),
    /** Rounded to the minute and written after the request; advisory. */
    lastUsedAt: instant('last_used_at'),
    revokedAt: instant('revoked_at'),
    /** The actor that made the key; null for keys that the service made itself. */
    madeBy: text('made_by'),
  },
  (t) => [index('api_keys_by_workspace').on(t.customerId, t.id)],
);
