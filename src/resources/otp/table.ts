import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';

/** A demand for a code: bound to who asked, for what, with which body. */
export const otpChallenges = pgTable(
  'otp_challenges',
  {
    id: text('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** The id of the endpoint. */
    operation: text('operation').notNull(),
    /** Who asked, as `holderOf` names them. */
    holder: text('holder'),
    scope: text('scope').notNull(),
    /** The code was mailed to this address. */
    recipient: text('recipient'),
    /** The HMAC of the digest of what was asked for. */
    bodyHash: text('body_hash').notNull(),
    /** The HMAC of challenge and code; the code itself is stored nowhere. */
    codeHmac: text('code_hmac').notNull(),
    wrongCodes: integer('wrong_codes').notNull().default(0),
    usedAt: instant('used_at'),
    expiresAt: instant('expires_at').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    // Housekeeping deletes expired challenges by it.
    index('otp_challenges_by_expiry').on(t.expiresAt),
    // It finds the open challenges of a workspace, and how many codes it and a recipient were mailed lately.
    index('otp_challenges_by_workspace').on(t.customerId, t.createdAt),
    index('otp_challenges_by_recipient').on(t.recipient, t.createdAt),
  ],
);

/**
 * Counts the wrong codes in a row of each holder, over all of its challenges. A guess is compared under the lock on its
 * holder's row, so that no holder can lock out another one of the workspace.
 */
export const otpHolderLocks = pgTable(
  'otp_holder_locks',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    holder: text('holder').notNull(),
    wrongInARow: integer('wrong_in_a_row').notNull().default(0),
    lockedUntil: instant('locked_until'),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.holder] })],
);
