/** Challenges and what came of them. A challenge is looked at, used up or counted under a lock on its row. */
import { and, eq, sql } from 'drizzle-orm';
import { safeEqual } from '../../platform/core/crypto.ts';
import type { Database } from '../../platform/db/client.ts';
import { isOpen, LOCK_MS, MAX_WRONG_CODES, MAX_WRONG_IN_A_ROW } from './model.ts';
import { otpChallenges, otpLocks } from './table.ts';

export type OtpStore = ReturnType<typeof createOtpStore>;
export type Challenge = typeof otpChallenges.$inferInsert;

/** What a code is given for: a challenge counts for the request it was made for and for no other. */
export interface Answer {
  customerId: string;
  id: string;
  operation: string;
  scope: string;
  /** Of body and code, by each secret that the challenge may have been made with. */
  kept: readonly { bodyHash: string; codeHmac: string }[];
}

export type Verdict<T> =
  | { kind: 'right'; value: T }
  /** May be answered again. */
  | { kind: 'wrong'; expiresAt: Date }
  /** Unknown, foreign, for something else, used, expired or answered wrongly too often. */
  | { kind: 'void' };

export const createOtpStore = (db: Database) => {
  async function countWrong(customerId: string, id: string): Promise<number> {
    const [challenge] = await db.orm
      .update(otpChallenges)
      .set({ wrongCodes: sql`${otpChallenges.wrongCodes} + 1` })
      .where(eq(otpChallenges.id, id))
      .returning({ wrongCodes: otpChallenges.wrongCodes });
    await db.rows(sql`
      insert into ${otpLocks} as lock (customer_id, wrong_in_a_row) values (${customerId}, 1)
      on conflict (customer_id) do update set
        wrong_in_a_row = lock.wrong_in_a_row + 1,
        locked_until = case when lock.wrong_in_a_row + 1 >= ${MAX_WRONG_IN_A_ROW}
          then now() + ${LOCK_MS} * interval '1 ms' else lock.locked_until end`);
    return challenge!.wrongCodes;
  }

  return {
    async insertChallenge(challenge: Challenge): Promise<void> {
      await db.orm.insert(otpChallenges).values(challenge);
    },

    /** @returns until when the workspace may not confirm anything */
    async lockedUntil(customerId: string): Promise<Date | undefined> {
      const [lock] = await db.orm
        .select({ until: otpLocks.lockedUntil })
        .from(otpLocks)
        .where(and(eq(otpLocks.customerId, customerId), sql`${otpLocks.lockedUntil} > now()`));
      return lock?.until ?? undefined;
    },

    /**
     * The right code uses its challenge up and runs `write`, in one transaction: what `write` throws undoes both. A
     * wrong one is counted in a transaction that commits.
     */
    answer: <T>(answer: Answer, write: () => Promise<T>): Promise<Verdict<T>> =>
      db.transaction(async () => {
        const [challenge] = await db.orm
          .select()
          .from(otpChallenges)
          .where(and(eq(otpChallenges.id, answer.id), eq(otpChallenges.customerId, answer.customerId)))
          .for('update');
        if (!challenge || !isOpen(challenge) || !isFor(challenge, answer)) return { kind: 'void' };
        if (!answer.kept.some(({ codeHmac }) => safeEqual(challenge.codeHmac, codeHmac))) {
          const wrongCodes = await countWrong(answer.customerId, answer.id);
          return wrongCodes < MAX_WRONG_CODES ? { kind: 'wrong', expiresAt: challenge.expiresAt } : { kind: 'void' };
        }
        await db.orm.update(otpChallenges).set({ usedAt: new Date() }).where(eq(otpChallenges.id, answer.id));
        await db.orm
          .update(otpLocks)
          .set({ wrongInARow: 0, lockedUntil: null })
          .where(and(eq(otpLocks.customerId, answer.customerId), sql`${otpLocks.wrongInARow} > 0`));
        return { kind: 'right', value: await write() };
      }),
  };
};

type Row = typeof otpChallenges.$inferSelect;

const isFor = (challenge: Row, { operation, scope, kept }: Answer): boolean =>
  challenge.operation === operation &&
  challenge.scope === scope &&
  kept.some(({ bodyHash }) => challenge.bodyHash === bodyHash);
