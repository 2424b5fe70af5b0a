/** Queries on webhook endpoints and on what they are signed with. */
import { and, asc, eq, isNull, sql, type SQL } from 'drizzle-orm';
import { first, present } from '../../../platform/core/present.ts';
import { CLOSED } from '../../../platform/db/circuit.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { DeliveryRef } from '../model.ts';
import { webhookDeliveries, webhookSubscriptions } from '../table.ts';

/** @returns the owner that a signing secret is sealed for */
export const secretOwner = (customerId: string, id: number): string => `${customerId}/webhook_subscriptions/${id}`;

/** The sealed secrets of a row, and what they are sealed for. */
export interface SealedSecrets {
  customerId: string;
  id: number;
  sealedSecret: string;
  sealedPreviousSecret: string | null;
}
type NewSecrets = Pick<SealedSecrets, 'sealedSecret' | 'sealedPreviousSecret'>;

type NewSubscription = Omit<typeof webhookSubscriptions.$inferInsert, 'id' | 'sealedSecret'>;

/** Ids in addresses may be larger than the column holds; compared as bigint they are simply unknown. */
const subscriptionIs = (id: number): SQL => sql`${webhookSubscriptions.id} = ${id}::bigint`;
const owned = (customerId: string, id: number) =>
  and(subscriptionIs(id), eq(webhookSubscriptions.customerId, customerId), isNull(webhookSubscriptions.deletedAt));

const WEBHOOK = {
  id: webhookSubscriptions.id,
  url: webhookSubscriptions.url,
  events: webhookSubscriptions.events,
  description: webhookSubscriptions.description,
  active: webhookSubscriptions.active,
  created_at: webhookSubscriptions.createdAt,
};

const ENDPOINT = {
  ...WEBHOOK,
  failing_since: webhookSubscriptions.failingSince,
  paused_at: webhookSubscriptions.pausedAt,
};

const SEALED = {
  customerId: webhookSubscriptions.customerId,
  id: webhookSubscriptions.id,
  sealedSecret: webhookSubscriptions.sealedSecret,
  sealedPreviousSecret: webhookSubscriptions.sealedPreviousSecret,
};

export const createEndpointRows = (db: Database) => ({
  /** @param seal seals the secret for the row that it will be in */
  async insertSubscription(row: NewSubscription, seal: (id: number) => string) {
    const { id } = first(
      await db.rows<{ id: number }>(
        sql`select nextval(pg_get_serial_sequence('webhook_subscriptions', 'id'))::int as id`,
      ),
    );
    return first(
      await db.orm
        .insert(webhookSubscriptions)
        .values({ ...row, sealedSecret: seal(id), id })
        .returning(WEBHOOK),
    );
  },

  countSubscriptions: (customerId: string): Promise<number> =>
    db.orm.$count(
      webhookSubscriptions,
      and(eq(webhookSubscriptions.customerId, customerId), isNull(webhookSubscriptions.deletedAt)),
    ),

  listSubscriptions: (customerId: string) =>
    db.orm
      .select(WEBHOOK)
      .from(webhookSubscriptions)
      .where(and(eq(webhookSubscriptions.customerId, customerId), isNull(webhookSubscriptions.deletedAt)))
      .orderBy(asc(webhookSubscriptions.id)),

  /** The same with what they are signed with, as it is stored. */
  listSealed: (customerId: string) =>
    db.orm
      .select({ ...WEBHOOK, ...SEALED })
      .from(webhookSubscriptions)
      .where(and(eq(webhookSubscriptions.customerId, customerId), isNull(webhookSubscriptions.deletedAt)))
      .orderBy(asc(webhookSubscriptions.id)),

  /** @throws Problem not_found */
  async changeSubscription(
    customerId: string,
    id: number,
    { sealedSecret, ...change }: Pick<NewSubscription, 'events' | 'description'> & { sealedSecret?: string },
  ): Promise<void> {
    const [changed] = await db.orm
      .update(webhookSubscriptions)
      .set({ ...change, ...(sealedSecret !== undefined && { sealedSecret }) })
      .where(owned(customerId, id))
      .returning({ id: webhookSubscriptions.id });
    found(changed);
  },

  /** The same columns, with those of the circuit. */
  listEndpoints: (customerId: string) =>
    db.orm
      .select(ENDPOINT)
      .from(webhookSubscriptions)
      .where(and(eq(webhookSubscriptions.customerId, customerId), isNull(webhookSubscriptions.deletedAt)))
      .orderBy(asc(webhookSubscriptions.id)),

  /** @throws Problem not_found */
  async resume(customerId: string, id: number) {
    const [endpoint] = await db.orm
      .update(webhookSubscriptions)
      .set({ ...CLOSED, active: true })
      .where(owned(customerId, id))
      .returning(ENDPOINT);
    return found(endpoint);
  },

  /**
   * @returns the deliveries that were queued and now are dropped
   * @throws Problem not_found
   */
  deleteSubscription: (customerId: string, id: number): Promise<DeliveryRef[]> =>
    db.transaction(async () => {
      const [deleted] = await db.orm
        .update(webhookSubscriptions)
        .set({ active: false, deletedAt: sql`now()` })
        .where(owned(customerId, id))
        .returning({ id: webhookSubscriptions.id });
      return db.orm
        .update(webhookDeliveries)
        .set({ status: 'dropped', completedAt: sql`now()` })
        .where(
          and(
            eq(webhookDeliveries.customerId, customerId),
            eq(webhookDeliveries.subscriptionId, found(deleted).id),
            eq(webhookDeliveries.status, 'pending'),
          ),
        )
        .returning({ deliveryId: webhookDeliveries.id, redelivery: webhookDeliveries.redeliveries });
    }),

  /**
   * @param graceMs the secret of before signs along for so long
   * @returns until when it does
   * @param change is given the secrets, which nobody else changes meanwhile
   * @throws Problem not_found, rotation_under_way
   */
  rotateSecret: (
    customerId: string,
    id: number,
    change: (before: SealedSecrets) => NewSecrets,
    graceMs: number,
  ): Promise<Date> =>
    db.transaction(async () => {
      const which = owned(customerId, id);
      const [row] = await db.orm
        .select({
          ...SEALED,
          until: webhookSubscriptions.previousSecretUntil,
          isInForce: sql<boolean | null>`${webhookSubscriptions.previousSecretUntil} > now()`,
        })
        .from(webhookSubscriptions)
        .where(which)
        .for('update');
      const { until, isInForce, ...before } = found(row);
      // A third secret would put the first one out of force earlier than the receiver was promised.
      if (before.sealedPreviousSecret !== null && until && isInForce) {
        const since = `the secret of before signs along until ${until.toISOString()}`;
        throw new Problem('rotation_under_way', `${since}; rotate again then, or register the endpoint anew`);
      }
      const [rotated] = await db.orm
        .update(webhookSubscriptions)
        .set({
          ...change(before),
          previousSecretUntil: sql`now() + ${graceMs} * interval '1 millisecond'`,
        })
        .where(which)
        .returning({ until: webhookSubscriptions.previousSecretUntil });
      return present(rotated?.until);
    }),
});
