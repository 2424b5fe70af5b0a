/** Sign-in by mailed code, and sessions that ended before their time. */
import { boolean, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';

export const loginChallenges = pgTable(
  'login_challenges',
  {
    id: text('id').primaryKey(),
    /** The address in lower case. */
    email: text('email').notNull(),
    /** The HMAC of challenge and code; the code itself is stored nowhere. */
    codeHmac: text('code_hmac').notNull(),
    wrongCodes: integer('wrong_codes').notNull().default(0),
    /** A browser asked for it that this address has signed in with before; those are counted apart. */
    known: boolean('known').notNull().default(false),
    usedAt: instant('used_at'),
    expiresAt: instant('expires_at').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    // Housekeeping deletes expired challenges by it.
    index('login_challenges_by_expiry').on(t.expiresAt),
    // It counts the challenges that an address was sent lately.
    index('login_challenges_by_email').on(t.email, t.createdAt),
  ],
);

/** The wrong codes in a row of an address, over all its challenges. */
export const loginLocks = pgTable('login_locks', {
  email: text('email').primaryKey(),
  wrongInARow: integer('wrong_in_a_row').notNull().default(0),
  lockedUntil: instant('locked_until'),
});

/** Sessions that were signed out of. A row may be deleted when its session would have ended. */
export const endedSessions = pgTable(
  'ended_sessions',
  {
    /** The SHA-256 of the session's text. */
    sessionHash: text('session_hash').primaryKey(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [index('ended_sessions_by_expiry').on(t.expiresAt)],
);

/** Sessions of a person in a workspace that began before this moment are over: signed out everywhere, removed, or of another role now. */
export const sessionCutoffs = pgTable(
  'session_cutoffs',
  {
    customerId: text('customer_id').notNull(),
    sub: text('sub').notNull(),
    notBefore: instant('not_before').notNull(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.sub] })],
);
