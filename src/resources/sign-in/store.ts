/**
 * Challenges of sign-in and what came of them, and sessions that ended before their time. What is here belongs to an
 * address, not to a workspace: which of them it opens is for its rows among the members to say.
 */
import { and, eq, sql } from 'drizzle-orm';
import { safeEqual } from '../../platform/core/crypto.ts';
import type { Database } from '../../platform/db/client.ts';
import { workspaceMembers } from '../workspaces/table.ts';
import { CODES_WINDOW_MS, isOpen, LOCK_MS, MAX_CODES, MAX_WRONG_IN_A_ROW } from './model.ts';
import { endedSessions, loginChallenges, loginLocks, sessionCutoffs } from './table.ts';

export type SignInStore = ReturnType<typeof createSignInStore>;

export interface Answer {
  id: string;
  /** Of the given code, by each secret that a challenge may have been made with. */
  codeHmacs: readonly string[];
}

export const createSignInStore = (db: Database) => {
  /** Addresses that nobody is a member with are not counted: their rows would stay for ever. */
  async function countWrong(id: string, email: string): Promise<void> {
    await db.orm
      .update(loginChallenges)
      .set({ wrongCodes: sql`${loginChallenges.wrongCodes} + 1` })
      .where(eq(loginChallenges.id, id));
    await db.rows(sql`
      insert into ${loginLocks} as lock (email, wrong_in_a_row)
      select ${email}, 1 where exists (select from ${workspaceMembers} where email = ${email})
      on conflict (email) do update set
        wrong_in_a_row = lock.wrong_in_a_row + 1,
        locked_until = case when lock.wrong_in_a_row + 1 >= ${MAX_WRONG_IN_A_ROW}
          then now() + ${LOCK_MS} * interval '1 ms' else lock.locked_until end`);
  }

  async function isLocked(email: string): Promise<boolean> {
    const locked = and(eq(loginLocks.email, email), sql`${loginLocks.lockedUntil} > now()`);
    return (await db.orm.$count(loginLocks, locked)) > 0;
  }

  return {
    /** @returns false when the address was sent as many as it may be; then nothing is kept */
    insertChallenge: (challenge: { id: string; email: string; codeHmac: string; expiresAt: Date }): Promise<boolean> =>
      db.transaction(async () => {
        // One address at a time, or N at once would all be counted as the last one allowed.
        await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`sign-in:${challenge.email}`}, 0))`);
        const recent = and(
          eq(loginChallenges.email, challenge.email),
          sql`${loginChallenges.createdAt} > now() - ${CODES_WINDOW_MS} * interval '1 ms'`,
        );
        if ((await db.orm.$count(loginChallenges, recent)) >= MAX_CODES) return false;
        await db.orm.insert(loginChallenges).values(challenge);
        return true;
      }),

    /**
     * The right code uses its challenge up; a wrong one is counted.
     * @returns the address that was sent the code; undefined for a wrong code and for a challenge that is unknown, used,
     * expired, burnt, or of an address that is locked
     */
    answer: ({ id, codeHmacs }: Answer): Promise<string | undefined> =>
      db.transaction(async () => {
        const [challenge] = await db.orm.select().from(loginChallenges).where(eq(loginChallenges.id, id)).for('update');
        if (!challenge || !isOpen(challenge) || (await isLocked(challenge.email))) return undefined;
        const { email } = challenge;
        if (!codeHmacs.some((hmac) => safeEqual(challenge.codeHmac, hmac))) {
          await countWrong(id, email);
          return undefined;
        }
        await db.orm.update(loginChallenges).set({ usedAt: new Date() }).where(eq(loginChallenges.id, id));
        await db.orm.delete(loginLocks).where(eq(loginLocks.email, email));
        return email;
      }),

    async endSession(sessionHash: string, expiresAt: Date): Promise<void> {
      await db.orm.insert(endedSessions).values({ sessionHash, expiresAt }).onConflictDoNothing();
    },

    /** Ends what this person holds in this workspace; join it to the transaction that is the reason for it. */
    async cutOff(customerId: string, sub: string): Promise<void> {
      // Sessions begin at whole seconds: one of this very second ends too, as does one that the cut-off before put off.
      await db.rows(sql`
        insert into ${sessionCutoffs} as cutoff (customer_id, sub, not_before)
        values (${customerId}, ${sub}, date_trunc('second', clock_timestamp()) + interval '1 s')
        on conflict (customer_id, sub) do update set
          not_before = greatest(cutoff.not_before + interval '1 s', excluded.not_before)`);
    },

    /** Unix seconds from which a new session of this person counts. */
    async notBefore(customerId: string, sub: string): Promise<number> {
      const [cutoff] = await db.orm
        .select({ notBefore: sessionCutoffs.notBefore })
        .from(sessionCutoffs)
        .where(and(eq(sessionCutoffs.customerId, customerId), eq(sessionCutoffs.sub, sub)));
      return (cutoff?.notBefore.getTime() ?? 0) / 1_000;
    },

    /** One statement on two primary keys: every request with a session waits for it. */
    async isEnded(sessionHash: string, claims: { customerId: string; sub: string; iat: number }): Promise<boolean> {
      const [row] = await db.rows<{ ended: boolean }>(sql`
        select exists (select from ${endedSessions} where session_hash = ${sessionHash})
          or exists (select from ${sessionCutoffs}
            where customer_id = ${claims.customerId} and sub = ${claims.sub}
              and extract(epoch from not_before) > ${claims.iat}::float8) as ended`);
      return row!.ended;
    },
  };
};
