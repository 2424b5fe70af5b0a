/**
 * Challenges and what came of them. Whatever is decided on those of a workspace is decided under a lock on its row among
 * the locks: a guess is evaluated and counted in one transaction that no other guess overlaps, and the count of those
 * that are open or were mailed holds until one more is added.
 */
import { and, desc, eq, getTableColumns, gt, lt, sql, type SQL } from 'drizzle-orm';
import { safeEqual } from '../../platform/core/crypto.ts';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import {
  CHALLENGE_TTL_MS,
  isOpen,
  LOCK_MS,
  MAILS_WINDOW_MS,
  MAX_OPEN,
  MAX_WRONG_CODES,
  MAX_WRONG_IN_A_ROW,
  mayMail,
  type MailsSent,
} from './model.ts';
import { otpChallenges, otpLocks } from './table.ts';

export type OtpStore = ReturnType<typeof createOtpStore>;
export type Challenge = Omit<typeof otpChallenges.$inferInsert, 'expiresAt'> & { recipient: string };

/** A code is given for this: a challenge counts for the request it was made for and for no other. */
export interface Answer {
  customerId: string;
  id: string;
  operation: string;
  scope: string;
  /** HMACs of body and code, by each secret that the challenge may have been made with. */
  kept: readonly { bodyHash: string; codeHmac: string }[];
}

/** After too many wrong codes nothing of the workspace is confirmed until then, and no code is looked at. */
type Locked = { kind: 'locked'; until: Date };

export type Verdict<T> =
  | { kind: 'right'; value: T }
  | Locked
  /** The challenge may be answered again. */
  | { kind: 'wrong'; expiresAt: Date }
  /** The challenge is unknown, foreign, for something else, used, expired or answered wrongly too often. */
  | { kind: 'void' };

export type Opening = { kind: 'opened'; expiresAt: Date } | Locked | { kind: 'full'; until: Date };

/** So many milliseconds before now, by the clock of the database, which `created_at` comes from too. */
const lately = (window: number): SQL => sql`now() - ${window} * interval '1 ms'`;

export const createOtpStore = (db: Database) => {
  /** What was counted must not be undone by a failure around it, hence the transaction is one of its own. */
  const alone = <T>(customerId: string, work: () => Promise<T>): Promise<T | Locked> =>
    db.outermostTransaction(async () => {
      const lock = first(
        await db.orm
          .insert(otpLocks)
          .values({ customerId })
          .onConflictDoUpdate({ target: otpLocks.customerId, set: { customerId } })
          .returning({
            until: otpLocks.lockedUntil,
            isLocked: sql<boolean | null>`${otpLocks.lockedUntil} > clock_timestamp()`,
          }),
      );
      return lock.until && lock.isLocked ? { kind: 'locked', until: lock.until } : work();
    });

  async function countWrong(customerId: string, id: string): Promise<number> {
    const challenge = first(
      await db.orm
        .update(otpChallenges)
        .set({ wrongCodes: sql`${otpChallenges.wrongCodes} + 1` })
        .where(eq(otpChallenges.id, id))
        .returning({ wrongCodes: otpChallenges.wrongCodes }),
    );
    await db.orm
      .update(otpLocks)
      .set({
        wrongInARow: sql`${otpLocks.wrongInARow} + 1`,
        lockedUntil: sql`case when ${otpLocks.wrongInARow} + 1 >= ${MAX_WRONG_IN_A_ROW}
          then clock_timestamp() + ${LOCK_MS} * interval '1 ms' else ${otpLocks.lockedUntil} end`,
      })
      .where(eq(otpLocks.customerId, customerId));
    return challenge.wrongCodes;
  }

  /** @returns mails of the workspace to this recipient, and those of all workspaces to it */
  async function mailsTo(customerId: string, recipient: string): Promise<MailsSent & { oldest: Date | null }> {
    // A recipient is served one workspace at a time too, or N of them at once would all be the last one allowed.
    await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`otp:${recipient}`}, 0))`);
    const isOwn = sql`${otpChallenges.customerId} = ${customerId}`;
    return first(
      await db.orm
        .select({
          ofWorkspace: sql<number>`(count(*) filter (where ${isOwn}))::int`,
          ofAll: sql<number>`count(*)::int`,
          oldest: sql<Date | null>`min(${otpChallenges.createdAt}) filter (where ${isOwn})`.mapWith(
            otpChallenges.createdAt,
          ),
        })
        .from(otpChallenges)
        .where(and(eq(otpChallenges.recipient, recipient), gt(otpChallenges.createdAt, lately(MAILS_WINDOW_MS)))),
    );
  }

  /** Ends all challenges that could be answered, but the newest ones. */
  async function endOlder(customerId: string): Promise<void> {
    const open = and(
      eq(otpChallenges.customerId, customerId),
      sql`${otpChallenges.usedAt} is null`,
      lt(otpChallenges.wrongCodes, MAX_WRONG_CODES),
      gt(otpChallenges.expiresAt, sql`clock_timestamp()`),
    );
    const older = db.orm
      .select({ id: otpChallenges.id })
      .from(otpChallenges)
      .where(open)
      .orderBy(desc(otpChallenges.createdAt), desc(otpChallenges.id))
      .offset(MAX_OPEN);
    await db.orm
      .update(otpChallenges)
      .set({ expiresAt: sql`clock_timestamp()` })
      .where(sql`${otpChallenges.id} in ${older}`);
  }

  return {
    /**
     * Adds a challenge before its code is mailed, so that codes asked for at once are each counted.
     * @param mailsPerHour limits what a workspace may have sent to one recipient
     */
    open: (challenge: Challenge, mailsPerHour: number): Promise<Opening> =>
      alone<Opening>(challenge.customerId, async () => {
        const { oldest, ...sent } = await mailsTo(challenge.customerId, challenge.recipient);
        if (!mayMail(sent, mailsPerHour)) {
          return { kind: 'full', until: new Date((oldest?.getTime() ?? Date.now()) + MAILS_WINDOW_MS) };
        }
        const expiresAt = sql`clock_timestamp() + ${CHALLENGE_TTL_MS} * interval '1 ms'`;
        const [opened] = await db.orm
          .insert(otpChallenges)
          .values({ ...challenge, expiresAt, createdAt: sql`clock_timestamp()` })
          .returning({ expiresAt: otpChallenges.expiresAt });
        await endOlder(challenge.customerId);
        return { kind: 'opened', ...opened! };
      }),

    /** Withdraws the challenge of a code that was not mailed. */
    async withdraw(customerId: string, id: string): Promise<void> {
      await db.orm.delete(otpChallenges).where(and(eq(otpChallenges.id, id), eq(otpChallenges.customerId, customerId)));
    },

    /**
     * The right code uses its challenge up and runs `write`, in one transaction: what `write` throws undoes both. A
     * wrong one is counted in a transaction that commits, and that is the only one which has looked at it.
     */
    answer: <T>(answer: Answer, write: () => Promise<T>): Promise<Verdict<T>> =>
      alone<Verdict<T>>(answer.customerId, async () => {
        const [challenge] = await db.orm
          .select({
            ...getTableColumns(otpChallenges),
            isPast: sql<boolean>`${otpChallenges.expiresAt} <= clock_timestamp()`,
          })
          .from(otpChallenges)
          .where(and(eq(otpChallenges.id, answer.id), eq(otpChallenges.customerId, answer.customerId)));
        if (!challenge || !isOpen(challenge) || !isFor(challenge, answer)) return { kind: 'void' };
        if (!answer.kept.some(({ codeHmac }) => safeEqual(challenge.codeHmac, codeHmac))) {
          const wrongCodes = await countWrong(answer.customerId, answer.id);
          return wrongCodes < MAX_WRONG_CODES ? { kind: 'wrong', expiresAt: challenge.expiresAt } : { kind: 'void' };
        }
        await db.orm.update(otpChallenges).set({ usedAt: new Date() }).where(eq(otpChallenges.id, answer.id));
        await db.orm
          .update(otpLocks)
          .set({ wrongInARow: 0, lockedUntil: null })
          .where(eq(otpLocks.customerId, answer.customerId));
        return { kind: 'right', value: await write() };
      }),
  };
};

type Row = typeof otpChallenges.$inferSelect;

const isFor = (challenge: Row, { operation, scope, kept }: Answer): boolean =>
  challenge.operation === operation &&
  challenge.scope === scope &&
  kept.some(({ bodyHash }) => challenge.bodyHash === bodyHash);
