/** Queries on output destinations. */
import { and, asc, eq, sql } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import type { CLOSED } from '../../../platform/db/circuit.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { unlessTaken } from '../../../platform/db/taken.ts';
import type { OutputDeliveryRef } from '../model.ts';
import { setRecipients } from './recipients.ts';
import { outputDeliveries, outputDestinations } from '../table.ts';

export type DestinationRow = typeof outputDestinations.$inferSelect;
type DestinationValues = Pick<
  DestinationRow,
  'name' | 'config' | 'sealed' | 'workflowSlugs' | 'enabled' | 'artifacts' | 'waits' | 'spending'
>;
type DestinationChange = Partial<DestinationValues> & Partial<typeof CLOSED>;

/** @returns the addresses of a destination by mail */
const namedBy = ({ kind, config }: Pick<DestinationRow, 'kind' | 'config'>): string[] =>
  kind === 'email' ? (config.to as string[]) : [];

/** @throws Problem name_taken */
const unlessNameTaken = <T>(write: () => Promise<T>): Promise<T> =>
  unlessTaken('output_destinations_by_name', 'a destination of this name exists', write);

const destinationIs = (customerId: string, id: string) =>
  and(eq(outputDestinations.customerId, customerId), eq(outputDestinations.id, id));
export const createDestinationRows = (db: Database) => ({
  list: (customerId: string): Promise<DestinationRow[]> =>
    db.orm
      .select()
      .from(outputDestinations)
      .where(eq(outputDestinations.customerId, customerId))
      .orderBy(asc(outputDestinations.id)),

  count: (customerId: string): Promise<number> =>
    db.orm.$count(outputDestinations, eq(outputDestinations.customerId, customerId)),

  async find(customerId: string, id: string): Promise<DestinationRow | undefined> {
    const [row] = await db.orm.select().from(outputDestinations).where(destinationIs(customerId, id));
    return row;
  },

  /** @throws Problem name_taken */
  insert: (row: DestinationValues & Pick<DestinationRow, 'id' | 'customerId' | 'kind'>): Promise<DestinationRow> =>
    unlessNameTaken(() =>
      db.transaction(async () => {
        const inserted = first(await db.orm.insert(outputDestinations).values(row).returning());
        await setRecipients(db, row.id, namedBy(inserted));
        return inserted;
      }),
    ),

  /** @param change is given the row, which nobody else changes meanwhile @throws Problem not_found, name_taken */
  change: (
    customerId: string,
    id: string,
    change: (row: DestinationRow) => DestinationChange,
  ): Promise<DestinationRow> =>
    db.transaction(async () => {
      const [before] = await db.orm
        .select()
        .from(outputDestinations)
        .where(destinationIs(customerId, id))
        .for('update');
      const values = change(found(before));
      return unlessNameTaken(async () => {
        const after = first(
          await db.orm
            .update(outputDestinations)
            .set({ ...values, updatedAt: sql`now()` })
            .where(destinationIs(customerId, id))
            .returning(),
        );
        await setRecipients(db, id, namedBy(after));
        return after;
      });
    }),

  /**
   * Deletes a destination with its log.
   * @returns the deliveries that were queued and now are gone
   * @throws Problem not_found
   */
  delete: (customerId: string, id: string): Promise<OutputDeliveryRef[]> =>
    db.transaction(async () => {
      // No completion adds to this list meanwhile, because its deliveries refer to this row, which is locked.
      const [row] = await db.orm
        .select({ id: outputDestinations.id })
        .from(outputDestinations)
        .where(destinationIs(customerId, id))
        .for('update');
      found(row);
      const queued = await db.orm
        .select({ deliveryId: outputDeliveries.id, redelivery: outputDeliveries.redeliveries })
        .from(outputDeliveries)
        .where(and(eq(outputDeliveries.destinationId, id), eq(outputDeliveries.status, 'pending')));
      await db.orm.delete(outputDestinations).where(destinationIs(customerId, id));
      return queued;
    }),
});
