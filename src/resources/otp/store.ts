/**
 * Challenges and their outcome. Every decision on the challenges of a holder is taken under a lock on the holder's row
 * among the locks: a guess is compared and counted in one transaction that no other guess of it overlaps, and the count
 * of open challenges holds until one more is added. Mails are counted under a lock on their recipient.
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
  LINK,
  mayMail,
  type MailsSent,
} from './model.ts';
import { otpChallenges, otpHolderLocks } from './table.ts';

export type OtpStore = ReturnType<typeof createOtpStore>;
export type Challenge = Omit<typeof otpChallenges.$inferInsert, 'expiresAt'> & Holder & { recipient: string };

/** Wrong codes, open challenges and mails are limited for each holder. */
interface Holder {
  customerId: string;
  /** As `holderOf` names it. */
  holder: string;
}

/** A code is given for this: a challenge counts for the request it was made for and for no other. */
export interface GivenCode extends Holder {
  id: string;
  operation: string;
  scope: string;
  /** HMACs of body and code, by each secret that the challenge may have been made with. */
  kept: readonly { bodyHash: string; codeHmac: string }[];
}

/** After too many wrong codes the holder confirms nothing until then, and no code of it is compared. */
type Locked = { kind: 'locked'; until: Date };

export type CodeVerdict<T> =
  | { kind: 'right'; value: T }
  | Locked
  /** The challenge may be answered again. */
  | { kind: 'wrong'; expiresAt: Date }
  /** The challenge is unknown, another holder's, for something else, used, expired or answered wrongly too often. */
  | { kind: 'void' };

export type Opening = { kind: 'opened'; expiresAt: Date } | Locked | { kind: 'full'; until: Date };

/** So many milliseconds before now, by the clock of the database, which `created_at` comes from too. */
const lately = (window: number): SQL => sql`now() - ${window} * interval '1 ms'`;

export const createOtpStore = (db: Database) => {
  /** What was counted must not be undone by a failure around it, hence the transaction is one of its own. */
  const alone = <T>({ customerId, holder }: Holder, work: () => Promise<T>): Promise<T | Locked> =>
    db.outermostTransaction(async () => {
      const lock = first(
        await db.orm
          .insert(otpHolderLocks)
          .values({ customerId, holder })
          .onConflictDoUpdate({ target: [otpHolderLocks.customerId, otpHolderLocks.holder], set: { holder } })
          .returning({
            until: otpHolderLocks.lockedUntil,
            isLocked: sql<boolean | null>`${otpHolderLocks.lockedUntil} > clock_timestamp()`,
          }),
      );
      return lock.until && lock.isLocked ? { kind: 'locked', until: lock.until } : work();
    });

  const lockOf = ({ customerId, holder }: Holder) =>
    and(eq(otpHolderLocks.customerId, customerId), eq(otpHolderLocks.holder, holder));

  async function countWrong({ id, ...holder }: GivenCode): Promise<number> {
    const challenge = first(
      await db.orm
        .update(otpChallenges)
        .set({ wrongCodes: sql`${otpChallenges.wrongCodes} + 1` })
        .where(eq(otpChallenges.id, id))
        .returning({ wrongCodes: otpChallenges.wrongCodes }),
    );
    await db.orm
      .update(otpHolderLocks)
      .set({
        wrongInARow: sql`${otpHolderLocks.wrongInARow} + 1`,
        lockedUntil: sql`case when ${otpHolderLocks.wrongInARow} + 1 >= ${MAX_WRONG_IN_A_ROW}
          then clock_timestamp() + ${LOCK_MS} * interval '1 ms' else ${otpHolderLocks.lockedUntil} end`,
      })
      .where(lockOf(holder));
    return challenge.wrongCodes;
  }

  /** @returns mails to this recipient, and when the oldest that counts against this holder was sent */
  async function mailsTo(
    { customerId, holder }: Holder,
    recipient: string,
  ): Promise<MailsSent & { oldest: Date | null }> {
    // A recipient is served one workspace at a time too, or N of them at once would all be the last one allowed.
    await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`otp:${recipient}`}, 0))`);
    const isLink = holder.startsWith(LINK);
    const isOwn = sql`${otpChallenges.customerId} = ${customerId}
      and starts_with(coalesce(${otpChallenges.holder}, ''), ${LINK}) = ${isLink}`;
    return first(
      await db.orm
        .select({
          ofHolder: sql<number>`(count(*) filter (where ${isOwn} and ${otpChallenges.holder} = ${holder}))::int`,
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

  /** Ends the holder's challenges that could be answered, except the newest ones. */
  async function endOlder({ customerId, holder }: Holder): Promise<void> {
    const open = and(
      eq(otpChallenges.customerId, customerId),
      eq(otpChallenges.holder, holder),
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
     * @param mailsPerHour limits the mails that the persons of a workspace, or its links, may have sent to one recipient
     */
    open: (challenge: Challenge, mailsPerHour: number): Promise<Opening> =>
      alone<Opening>(challenge, async () => {
        const { oldest, ...sent } = await mailsTo(challenge, challenge.recipient);
        if (!mayMail(challenge.holder, sent, mailsPerHour)) {
          return { kind: 'full', until: new Date((oldest?.getTime() ?? Date.now()) + MAILS_WINDOW_MS) };
        }
        const expiresAt = sql`clock_timestamp() + ${CHALLENGE_TTL_MS} * interval '1 ms'`;
        const [opened] = await db.orm
          .insert(otpChallenges)
          .values({ ...challenge, expiresAt, createdAt: sql`clock_timestamp()` })
          .returning({ expiresAt: otpChallenges.expiresAt });
        await endOlder(challenge);
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
    answer: <T>(answer: GivenCode, write: () => Promise<T>): Promise<CodeVerdict<T>> =>
      alone<CodeVerdict<T>>(answer, async () => {
        const [challenge] = await db.orm
          .select({
            ...getTableColumns(otpChallenges),
            isPast: sql<boolean>`${otpChallenges.expiresAt} <= clock_timestamp()`,
          })
          .from(otpChallenges)
          .where(and(eq(otpChallenges.id, answer.id), eq(otpChallenges.customerId, answer.customerId)));
        if (!challenge || !isOpen(challenge) || !isFor(challenge, answer)) return { kind: 'void' };
        if (!answer.kept.some(({ codeHmac }) => safeEqual(challenge.codeHmac, codeHmac))) {
          const wrongCodes = await countWrong(answer);
          return wrongCodes < MAX_WRONG_CODES ? { kind: 'wrong', expiresAt: challenge.expiresAt } : { kind: 'void' };
        }
        await db.orm.update(otpChallenges).set({ usedAt: new Date() }).where(eq(otpChallenges.id, answer.id));
        await db.orm.update(otpHolderLocks).set({ wrongInARow: 0, lockedUntil: null }).where(lockOf(answer));
        return { kind: 'right', value: await write() };
      }),
  };
};

type Row = typeof otpChallenges.$inferSelect;

const isFor = (challenge: Row, { holder, operation, scope, kept }: GivenCode): boolean =>
  (challenge.holder ?? holder) === holder &&
  challenge.operation === operation &&
  challenge.scope === scope &&
  kept.some(({ bodyHash }) => challenge.bodyHash === bodyHash);
