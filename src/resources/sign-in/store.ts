/**
 * Challenges of sign-in and how they ended, and sessions that ended before their time. The rows belong to an address,
 * not to a workspace: the members' rows say which workspaces it opens.
 */
import { and, eq, getTableColumns, isNull, sql, type SQL } from 'drizzle-orm';
import { actorKey, subjectName } from '../../platform/core/actor.ts';
import { safeEqual } from '../../platform/core/crypto.ts';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { addressOfSubject, isMemberAnywhere, wasRemoved } from '../members/store/fragments.ts';
import { workspaceOf } from '../workspaces/store/fragments.ts';
import { CHALLENGE_TTL_MS, isOpen, LINK_TTL_MS, LOCK_MS, MAX_MAILS, MAX_WRONG_IN_A_ROW } from './model.ts';
import { endedSessions, loginChallenges, loginLocks, sessionCutoffs } from './table.ts';

export type SignInStore = ReturnType<typeof createSignInStore>;

type NewChallenge = Omit<typeof loginChallenges.$inferInsert, 'known' | 'expiresAt'> & { known: boolean };

export interface SignInCode {
  id: string;
  /** HMACs of the given code, by each secret that a challenge may have been made with. */
  codeHmacs: readonly string[];
}

/** It stands in the place of a person for all who have no cut-off of their own. No address is written so. */
const EVERYBODY = '*';
/** @param names of one person, such as the subject and the addresses of a session that was signed elsewhere */
const cutoffOf = (customerId: string, names: SQL): SQL => sql`
  (select not_before from ${sessionCutoffs} where customer_id = ${customerId} and sub in (${names}, ${EVERYBODY})
    order by sub = ${EVERYBODY}, not_before desc limit 1)`;

/**
 * A session begins at a moment of the database's clock, to the microsecond. A cut-off ends all that began before it, also
 * one that an earlier cut-off put off: that one begins when the earlier cut-off ends. A session or token of somebody else
 * that begins at a whole second may be from before a cut-off within this second, and ends with it.
 */
const afterAllCutoffs = sql`greatest(clock_timestamp(), max(not_before)) + interval '1 ms'`;

export const createSignInStore = (db: Database) => {
  /**
   * Lets one transaction at a time decide about an address, so that what was counted is still so when it is decided by.
   */
  const alone = async (email: string): Promise<void> =>
    void (await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`sign-in:${email}`}, 0))`));

  /** Addresses that nobody is a member with are not counted: their rows would stay for ever. */
  async function countWrong(id: string, email: string): Promise<void> {
    await db.orm
      .update(loginChallenges)
      .set({ wrongCodes: sql`${loginChallenges.wrongCodes} + 1` })
      .where(eq(loginChallenges.id, id));
    await db.rows(sql`
      insert into ${loginLocks} as lock (email, wrong_in_a_row)
      select ${email}, 1 where ${isMemberAnywhere(email)}
      on conflict (email) do update set
        wrong_in_a_row = lock.wrong_in_a_row + 1,
        locked_until = case when lock.wrong_in_a_row + 1 >= ${MAX_WRONG_IN_A_ROW}
          then clock_timestamp() + ${LOCK_MS} * interval '1 ms' else lock.locked_until end`);
  }

  async function isLocked(email: string): Promise<boolean> {
    const locked = and(eq(loginLocks.email, email), sql`${loginLocks.lockedUntil} > clock_timestamp()`);
    return (await db.orm.$count(loginLocks, locked)) > 0;
  }

  const linkOpens = and(
    isNull(loginChallenges.usedAt),
    sql`${loginChallenges.createdAt} > now() - ${LINK_TTL_MS} * interval '1 ms'`,
  );

  return {
    /** @returns false where the address was sent as many as it may be; then nothing is kept */
    insertChallenge: (challenge: NewChallenge): Promise<boolean> =>
      db.transaction(async () => {
        const { email, known } = challenge;
        await alone(email);
        // Challenges of known browsers have their own number, which nobody else can use up.
        const unused = and(eq(loginChallenges.email, email), eq(loginChallenges.known, known), linkOpens);
        if ((await db.orm.$count(loginChallenges, unused)) >= MAX_MAILS) return false;
        const expiresAt = sql`clock_timestamp() + ${CHALLENGE_TTL_MS} * interval '1 ms'`;
        await db.orm.insert(loginChallenges).values({ ...challenge, expiresAt });
        return true;
      }),

    /** Withdraws the challenge of a mail that was not sent: its link is in nobody's mailbox, so it must not count. */
    async withdraw(id: string): Promise<void> {
      await db.orm.delete(loginChallenges).where(eq(loginChallenges.id, id));
    },

    /**
     * The right code uses its challenge up; a wrong one is counted.
     * @returns the address that was sent the code; undefined for a wrong code and for a challenge that is unknown, used,
     * expired, burnt, or of an address whose codes are locked
     */
    answer: ({ id, codeHmacs }: SignInCode): Promise<string | undefined> =>
      db.outermostTransaction(async () => {
        const isPast = sql<boolean>`${loginChallenges.expiresAt} <= clock_timestamp()`;
        const [challenge] = await db.orm
          .select({ ...getTableColumns(loginChallenges), isPast })
          .from(loginChallenges)
          .where(eq(loginChallenges.id, id))
          .for('update');
        if (!challenge || !isOpen(challenge)) return undefined;
        const { email } = challenge;
        await alone(email);
        // A guesser has no browser that the address has signed in with, and is not to keep its owner from using one.
        if (!challenge.known && (await isLocked(email))) return undefined;
        if (!codeHmacs.some((hmac) => safeEqual(challenge.codeHmac, hmac))) {
          await countWrong(id, email);
          return undefined;
        }
        await db.orm.update(loginChallenges).set({ usedAt: new Date() }).where(eq(loginChallenges.id, id));
        await db.orm.delete(loginLocks).where(eq(loginLocks.email, email));
        return email;
      }),

    /** @returns the address that was sent the link of this challenge, while the link can be used */
    async findByLink(id: string): Promise<string | undefined> {
      const [challenge] = await db.orm
        .select({ email: loginChallenges.email })
        .from(loginChallenges)
        .where(and(eq(loginChallenges.id, id), linkOpens));
      return challenge?.email;
    },

    /** Does the same and uses the link up. Neither wrong codes nor a lock by them keep out who has the mail. */
    useLink: (id: string): Promise<string | undefined> =>
      db.transaction(async () => {
        const [used] = await db.orm
          .update(loginChallenges)
          .set({ usedAt: new Date() })
          .where(and(eq(loginChallenges.id, id), linkOpens))
          .returning({ email: loginChallenges.email });
        if (used) await db.orm.delete(loginLocks).where(eq(loginLocks.email, used.email));
        return used?.email;
      }),

    async endSession(sessionHash: string, expiresAt: Date): Promise<void> {
      await db.orm.insert(endedSessions).values({ sessionHash, expiresAt }).onConflictDoNothing();
    },

    /** Ends what this person holds in this workspace; call it in the transaction that is the reason for it. */
    async cutOff(customerId: string, sub: string): Promise<void> {
      await db.rows(sql`
        insert into ${sessionCutoffs} (customer_id, sub, not_before)
        select ${customerId}, ${sub}, ${afterAllCutoffs}
          from ${sessionCutoffs} where customer_id = ${customerId} and sub in (${sub}, ${EVERYBODY})
        on conflict (customer_id, sub) do update set
          not_before = greatest(${sessionCutoffs}.not_before + interval '1 ms', excluded.not_before)`);
    },

    /**
     * Ends what everybody holds in this workspace, but for what this person was given since a cut-off of their own; join it
     * to the transaction that is the reason for it.
     */
    async cutOffAll(customerId: string, but: string | undefined): Promise<void> {
      await db.rows(sql`
        insert into ${sessionCutoffs} (customer_id, sub, not_before)
        select ${customerId}, ${EVERYBODY}, ${afterAllCutoffs}
          from ${sessionCutoffs} where customer_id = ${customerId}
        on conflict (customer_id, sub) do update set
          not_before = greatest(${sessionCutoffs}.not_before + interval '1 ms', excluded.not_before)`);
      await db.rows(sql`
        delete from ${sessionCutoffs} where customer_id = ${customerId} and sub <> ${EVERYBODY}
          and sub is distinct from ${but ?? null}::text`);
      if (but !== undefined) {
        await db.rows(sql`
          insert into ${sessionCutoffs} (customer_id, sub, not_before) values (${customerId}, ${but}, 'epoch')
          on conflict do nothing`);
      }
    },

    /** @returns Unix seconds from which the identity provider's tokens of this person count, after every cut-off */
    async believedFrom(customerId: string, sub: string): Promise<number> {
      const [row] = await db.rows<{ from: number }>(sql`
        select extract(epoch from e.not_before)::float8 as from from ${sessionCutoffs} e
        where e.customer_id = ${customerId} and e.sub = ${EVERYBODY} and not exists (
          select from ${sessionCutoffs} own
          where own.customer_id = e.customer_id and own.sub = ${sub} and own.not_before <= e.not_before)`);
      return row?.from ?? 0;
    },

    /** Returns Unix seconds at which a new session of this person begins: now, or after every cut-off. */
    async beginning(customerId: string, sub: string): Promise<number> {
      const { from } = first(
        await db.rows<{ from: number }>(sql`
        select extract(epoch from greatest(clock_timestamp(), ${cutoffOf(customerId, sql`${sub}`)}))::float8 as from`),
      );
      return from;
    },

    /**
     * Tells whether a session has ended. The session of a removed member has, whoever signed it and when. The person is known
     * by the address and by the subject, and by the address that the subject is bound to. It is one statement on primary
     * keys, as every request with a session waits for it.
     */
    async find(sessionHash: string, claims: { customerId: string; sub: string; email: string; iat: number }) {
      const { customerId, sub } = claims;
      const names = [...new Set([sub, ...[sub, subjectName(sub), claims.email].map(actorKey)])];
      const ofPerson = sql`${sql.join(names, sql`, `)}, ${addressOfSubject(customerId, subjectName(sub))}`;
      const row = first(
        await db.rows<{ isEnded: boolean; isArchived: boolean }>(sql`
        select exists (select from ${endedSessions} where session_hash = ${sessionHash})
          or coalesce(extract(epoch from ${cutoffOf(customerId, ofPerson)})::float8 > ${claims.iat}::float8, false)
          or ${wasRemoved(customerId, ofPerson)}
          as "isEnded",
          coalesce((select open_status = 'archived' from ${workspaceOf(customerId)} w), false)
          as "isArchived"`),
      );
      return row;
    },
  };
};
