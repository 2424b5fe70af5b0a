/**
 * Queries on the addresses of destinations by mail, and on how many mails were sent. Queries by the id in a link name
 * no workspace: whoever has the link is who was mailed it.
 */
import { and, eq, inArray, isNull, lt, ne, notInArray, or, sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { workspaces } from '../../workspaces/table.ts';
import { workspaceMembers } from '../../members/table.ts';
import { MAX_QUESTIONS, MAX_QUESTIONS_A_WORKSPACE, QUESTION_TTL_MS, type RecipientState } from '../model.ts';
import { outputDeliveries, outputDestinations, outputMailCounts, outputRecipients } from '../table.ts';

export type RecipientStore = ReturnType<typeof createRecipientStore>;

export interface Recipient {
  id: string;
  destinationId: string;
  /** The address in lower case. */
  email: string;
  state: RecipientState;
}

/** Says who is asked, and by whom. */
export interface RecipientRequest {
  id: string;
  email: string;
  customerId: string;
  workspaceId: string;
  destination: string;
  state: RecipientState;
}

const STATE = sql<RecipientState>`case
  when ${outputRecipients.answer} = 'refused' then 'refused'
  when ${workspaceMembers.email} is not null then 'member'
  else coalesce(${outputRecipients.answer}::text, 'waiting') end`;
const ofItsDestination = eq(outputDestinations.id, outputRecipients.destinationId);
const asMember = and(
  eq(workspaceMembers.customerId, outputDestinations.customerId),
  eq(workspaceMembers.email, outputRecipients.email),
);
const longAgo = (): SQL => sql`now() - ${QUESTION_TTL_MS} * interval '1 ms'`;
/** Selects recipients who have no question that can still be answered. */
const isUnasked = or(isNull(outputRecipients.askedAt), lt(outputRecipients.askedAt, longAgo()));

/**
 * Makes the addresses of a destination those that it names, for the transaction that changes it. Those that stay keep
 * what they answered.
 */
export async function setRecipients(db: Database, destinationId: string, emails: readonly string[]): Promise<void> {
  const named = [...new Set(emails.map((email) => email.toLowerCase()))];
  await db.orm
    .delete(outputRecipients)
    .where(and(eq(outputRecipients.destinationId, destinationId), notInArray(outputRecipients.email, named)));
  if (named.length === 0) return;
  await db.orm
    .insert(outputRecipients)
    .values(named.map((email) => ({ destinationId, email })))
    .onConflictDoNothing();
}

/** Keeps those that a delivery waits for from answering until the transaction has recorded that it does. */
export async function holdAnswers(db: Database, deliveryId: string, emails: readonly string[]): Promise<void> {
  const itsDestination = db.orm
    .select({ id: outputDeliveries.destinationId })
    .from(outputDeliveries)
    .where(eq(outputDeliveries.id, deliveryId));
  await db.orm
    .select({ id: outputRecipients.id })
    .from(outputRecipients)
    .where(
      and(sql`${outputRecipients.destinationId} = ${itsDestination}`, inArray(outputRecipients.email, [...emails])),
    )
    .orderBy(outputRecipients.id)
    .for('share');
}

/**
 * Makes ended deliveries pending again that waited for somebody who has confirmed, for those alone.
 * @returns their ids
 */
export async function releaseConfirmed(db: Database, which: SQL): Promise<string[]> {
  const released = await db.orm
    .update(outputDeliveries)
    .set({
      status: 'pending',
      completedAt: null,
      lastError: null,
      dueAt: sql`default`,
      redeliveries: sql`${outputDeliveries.redeliveries} + 1`,
    })
    .where(
      and(
        which,
        ne(outputDeliveries.status, 'pending'),
        sql`${outputDeliveries.createdAt} > ${longAgo()}`,
        sql`exists (select from ${outputRecipients} r where r.destination_id = ${outputDeliveries.destinationId}
          and r.answer = 'confirmed' and r.email = any(${outputDeliveries.withheldFrom}))`,
      ),
    )
    .returning({ id: outputDeliveries.id });
  return released.map(({ id }) => id);
}

export const createRecipientStore = (db: Database) => {
  const today = sql`(now() at time zone 'utc')::date`;

  /** @returns false where that many would be more than the most of a day; then none is counted */
  async function take(counted: string, mails: number, most: number): Promise<boolean> {
    const taken = await db.rows(sql`
      insert into ${outputMailCounts} as c (day, counted, mails)
      select ${today}, ${counted}, ${mails}::int where ${mails}::int <= ${most}::int
      on conflict (day, counted) do update set mails = c.mails + excluded.mails
        where c.mails + excluded.mails <= ${most}::int
      returning 1`);
    return taken.length > 0;
  }

  const asked = (which: SQL | undefined) =>
    db.orm
      .select({
        id: outputRecipients.id,
        email: outputRecipients.email,
        customerId: outputDestinations.customerId,
        workspaceId: workspaces.identityWorkspaceId,
        destination: outputDestinations.name,
        state: STATE,
      })
      .from(outputRecipients)
      .innerJoin(outputDestinations, ofItsDestination)
      .innerJoin(workspaces, eq(workspaces.customerId, outputDestinations.customerId))
      .leftJoin(workspaceMembers, asMember)
      .where(which)
      .orderBy(outputRecipients.id)
      .$dynamic();

  const isWaiting = and(isNull(outputRecipients.answer), isNull(workspaceMembers.email));

  return {
    /** @returns the recipients of these destinations, by address */
    list: (customerId: string, destinationIds: readonly string[]): Promise<Recipient[]> =>
      db.orm
        .select({
          id: outputRecipients.id,
          destinationId: outputRecipients.destinationId,
          email: outputRecipients.email,
          state: STATE,
        })
        .from(outputRecipients)
        .innerJoin(outputDestinations, ofItsDestination)
        .leftJoin(workspaceMembers, asMember)
        .where(
          and(
            eq(outputDestinations.customerId, customerId),
            inArray(outputRecipients.destinationId, [...destinationIds]),
          ),
        )
        .orderBy(outputRecipients.email),

    /** @returns those of the addresses that are members, in lower case: they are told of waits without being named */
    async listMembers(customerId: string, emails: readonly string[]): Promise<string[]> {
      const named = emails.map((email) => email.toLowerCase());
      const rows = await db.orm
        .select({ email: workspaceMembers.email })
        .from(workspaceMembers)
        .where(and(eq(workspaceMembers.customerId, customerId), inArray(workspaceMembers.email, named)));
      return rows.map(({ email }) => email);
    },

    /** @returns the recipients of a destination whose question is due */
    listUnasked: (customerId: string, destinationId: string): Promise<RecipientRequest[]> =>
      asked(
        and(
          eq(outputDestinations.customerId, customerId),
          eq(outputDestinations.id, destinationId),
          isWaiting,
          isUnasked,
        ),
      ),

    /** @returns recipients of all workspaces who were never asked, in pages by id */
    listNeverAsked: (after: string | undefined, limit: number): Promise<RecipientRequest[]> =>
      asked(
        and(
          isWaiting,
          isNull(outputRecipients.askedAt),
          after === undefined ? undefined : sql`${outputRecipients.id} > ${after}`,
        ),
      ).limit(limit),

    /** @returns false where somebody else asks just now, or did, or the mails of the day are used up */
    claimQuestion: ({ id, email, customerId }: RecipientRequest, mailsPerDay: number): Promise<boolean> =>
      db
        .outermostTransaction(async () => {
          const claimed = await db.orm
            .update(outputRecipients)
            .set({ askedAt: sql`now()` })
            .where(and(eq(outputRecipients.id, id), isNull(outputRecipients.answer), isUnasked))
            .returning({ id: outputRecipients.id });
          const mayAsk =
            claimed.length > 0 &&
            (await take(`question:${customerId}:${email}`, 1, MAX_QUESTIONS_A_WORKSPACE)) &&
            (await take(`question:${email}`, 1, MAX_QUESTIONS)) &&
            (await take(`workspace:${customerId}`, 1, mailsPerDay));
          if (!mayAsk) throw new NotNow();
          return true;
        })
        .catch((error: unknown) => {
          if (error instanceof NotNow) return false;
          throw error;
        }),

    /**
     * Withdraws a question that could not be mailed. That it was tried still counts, as a mail server may have taken
     * it.
     */
    async withdrawQuestion(id: string): Promise<void> {
      await db.orm.update(outputRecipients).set({ askedAt: null }).where(eq(outputRecipients.id, id));
    },

    async find(id: string): Promise<RecipientRequest | undefined> {
      const [row] = await asked(eq(outputRecipients.id, id));
      return row;
    },

    /**
     * Takes an answer, which can be changed, and lets go what waited for it.
     * @returns ids of what is to be sent now; undefined where the address or its destination is gone
     */
    answer: (id: string, answer: 'confirmed' | 'refused'): Promise<string[] | undefined> =>
      db.transaction(async () => {
        const [answered] = await db.orm
          .update(outputRecipients)
          .set({ answer, answeredAt: sql`now()` })
          .where(eq(outputRecipients.id, id))
          .returning({ destinationId: outputRecipients.destinationId });
        if (!answered) return undefined;
        if (answer === 'refused') return [];
        return releaseConfirmed(db, eq(outputDeliveries.destinationId, answered.destinationId));
      }),

    /** @returns false where the workspace may not send that many more today */
    takeMails: (customerId: string, mails: number, mailsPerDay: number): Promise<boolean> =>
      take(`workspace:${customerId}`, mails, mailsPerDay),

    /** Gives back the count of mails that were not sent after all. */
    async giveBackMails(customerId: string, mails: number): Promise<void> {
      await db.orm
        .update(outputMailCounts)
        .set({ mails: sql`greatest(0, ${outputMailCounts.mails} - ${mails}::int)` })
        .where(and(sql`${outputMailCounts.day} = ${today}`, eq(outputMailCounts.counted, `workspace:${customerId}`)));
    },
  };
};

/** Thrown to undo a claim. */
class NotNow extends Error {}
