/**
 * Every query on output destinations and their deliveries.
 *
 * A delivery is written only while it is `pending` and only for its latest redelivery. So whatever comes late (a retried
 * activity, a workflow that was overtaken) changes nothing.
 */
import { and, asc, desc, eq, gt, inArray, lt, ne, sql, type SQL } from 'drizzle-orm';
import { newUuid } from '../../platform/core/ids.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found, type Database } from '../../platform/db/client.ts';
import type { PendingPage } from '../../platform/temporal/starting.ts';
import { unlessTaken } from '../../platform/db/taken.ts';
import { artifacts, projects } from '../projects/table.ts';
import { belowPlace, countRows, findPage, type Counted } from '../tallies/store.ts';
import { workspaces } from '../workspaces/table.ts';
import type { DeliveryQuery, DeliveryRow } from './contract.ts';
import type { OutputDeliveryRef } from './model.ts';
import { outputDeliveries, outputDestinations } from './table.ts';

export type DestinationStore = ReturnType<typeof createDestinationStore>;
export type DestinationRow = typeof outputDestinations.$inferSelect;
type DestinationValues = Pick<DestinationRow, 'name' | 'config' | 'sealed' | 'workflowSlugs' | 'enabled'>;
export type StartableOutput = Awaited<ReturnType<DestinationStore['listPending']>>[number];

/** What the secrets of a destination are sealed for. */
export const secretOwner = (customerId: string, id: string): string => `${customerId}/output_destinations/${id}`;

/**
 * What the completion of a project owes to destinations, for the transaction that makes it true: one delivery for each
 * current artifact and enabled destination that has not had it. Repeating it adds nothing.
 * @returns ids of what is to be sent for this project, also those of an earlier call
 */
export async function insertOutputs(db: Database, { id, customerId }: { id: string; customerId: string }) {
  const pairs = await db.rows<{ destinationId: string; artifactId: string }>(sql`
    select d.id as "destinationId", a.id as "artifactId"
    from ${projects} p
      join ${outputDestinations} d on d.customer_id = p.customer_id and d.enabled
        and (d.workflow_slugs is null or p.workflow_slug = any(d.workflow_slugs))
      join ${artifacts} a on a.project_id = p.id and not a.superseded
    where p.id = ${id} and p.customer_id = ${customerId}
      and not exists (select 1 from ${outputDeliveries} o where o.destination_id = d.id and o.artifact_id = a.id)
    order by a.created_at, a.id, d.id
    for key share of d`);
  if (pairs.length > 0) {
    const rows = pairs.map((pair) => ({ ...pair, id: newUuid(), customerId, projectId: id }));
    await db.orm.insert(outputDeliveries).values(rows).onConflictDoNothing();
  }
  return listPendingOutputs(db, id);
}

/** @returns ids of what waits to be sent for a project */
export async function listPendingOutputs(db: Database, projectId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from ${outputDeliveries} where project_id = ${projectId} and status = 'pending' order by id`);
  return rows.map(({ id }) => id);
}

/** @throws Problem name_taken */
const unlessNameTaken = <T>(write: () => Promise<T>): Promise<T> =>
  unlessTaken('output_destinations_by_name', 'a destination of this name exists', write);

const destinationIs = (customerId: string, id: string) =>
  and(eq(outputDestinations.customerId, customerId), eq(outputDestinations.id, id));
const pending = ({ deliveryId, redelivery }: OutputDeliveryRef) =>
  and(
    eq(outputDeliveries.id, deliveryId),
    eq(outputDeliveries.redeliveries, redelivery),
    eq(outputDeliveries.status, 'pending'),
  );
const ofItsDestination = eq(outputDestinations.id, outputDeliveries.destinationId);

const DELIVERY = {
  id: outputDeliveries.id,
  destination_id: outputDeliveries.destinationId,
  destination: outputDestinations.name,
  kind: outputDestinations.kind,
  project_id: outputDeliveries.projectId,
  artifact_id: outputDeliveries.artifactId,
  status: outputDeliveries.status,
  attempts: outputDeliveries.attempts,
  redeliveries: outputDeliveries.redeliveries,
  last_error: outputDeliveries.lastError,
  created_at: outputDeliveries.createdAt,
  completed_at: outputDeliveries.completedAt,
};

/** What starting the workflow of a delivery takes. */
const STARTABLE = {
  customerId: outputDeliveries.customerId,
  deliveryId: outputDeliveries.id,
  redelivery: outputDeliveries.redeliveries,
  projectId: outputDeliveries.projectId,
  kind: outputDestinations.kind,
  workspaceId: workspaces.identityWorkspaceId,
};

export const createDestinationStore = (db: Database) => {
  const log = () =>
    db.orm.select(DELIVERY).from(outputDeliveries).innerJoin(outputDestinations, ofItsDestination).$dynamic();

  /** @throws Problem not_found */
  async function getDelivery(customerId: string, id: string): Promise<DeliveryRow> {
    const [row] = await log().where(and(eq(outputDeliveries.customerId, customerId), eq(outputDeliveries.id, id)));
    return found(row);
  }

  const startable = (which: SQL | undefined) =>
    db.orm
      .select(STARTABLE)
      .from(outputDeliveries)
      .innerJoin(outputDestinations, ofItsDestination)
      .innerJoin(workspaces, eq(workspaces.customerId, outputDeliveries.customerId))
      .where(and(eq(outputDeliveries.status, 'pending'), which))
      .orderBy(asc(outputDeliveries.id))
      .$dynamic();

  return {
    list: (customerId: string): Promise<DestinationRow[]> =>
      db.orm
        .select()
        .from(outputDestinations)
        .where(eq(outputDestinations.customerId, customerId))
        .orderBy(asc(outputDestinations.id)),

    async find(customerId: string, id: string): Promise<DestinationRow | undefined> {
      const [row] = await db.orm.select().from(outputDestinations).where(destinationIs(customerId, id));
      return row;
    },

    /** @throws Problem name_taken */
    insert: (row: DestinationValues & Pick<DestinationRow, 'id' | 'customerId' | 'kind'>): Promise<DestinationRow> =>
      unlessNameTaken(async () => {
        const [inserted] = await db.orm.insert(outputDestinations).values(row).returning();
        return inserted!;
      }),

    /**
     * @param change of the row as it is, which nobody else changes meanwhile
     * @throws Problem not_found, name_taken
     */
    change: (
      customerId: string,
      id: string,
      change: (row: DestinationRow) => Partial<DestinationValues>,
    ): Promise<DestinationRow> =>
      db.transaction(async () => {
        const [before] = await db.orm
          .select()
          .from(outputDestinations)
          .where(destinationIs(customerId, id))
          .for('update');
        const values = change(found(before));
        return unlessNameTaken(async () => {
          const [after] = await db.orm
            .update(outputDestinations)
            .set({ ...values, updatedAt: sql`now()` })
            .where(destinationIs(customerId, id))
            .returning();
          return after!;
        });
      }),

    /**
     * With its log.
     * @returns the deliveries that were queued and now are gone
     * @throws Problem not_found
     */
    delete: (customerId: string, id: string): Promise<OutputDeliveryRef[]> =>
      db.transaction(async () => {
        // No completion adds to what is listed here: its deliveries refer to this row.
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

    async listDeliveries(customerId: string, { limit, offset, status, destination_id }: DeliveryQuery) {
      const counted: Counted<'output_deliveries'> = {
        list: 'output_deliveries',
        customerId,
        filter: { status, destination_id },
      };
      const start = await findPage(db, counted, offset);
      const page = db.orm
        .select({ id: outputDeliveries.id })
        .from(outputDeliveries)
        .where(
          and(
            eq(outputDeliveries.customerId, customerId),
            // Known when the statement is planned, so that the index of the rare ones serves it.
            status && sql`${outputDeliveries.status} = ${sql.raw(`'${status}'`)}`,
            destination_id === undefined ? undefined : eq(outputDeliveries.destinationId, destination_id),
            belowPlace(outputDeliveries.id, start),
          ),
        )
        .orderBy(desc(outputDeliveries.id))
        .limit(limit)
        .offset(start.offset);
      const data = await log()
        .where(sql`${outputDeliveries.id} in ${page}`)
        .orderBy(desc(outputDeliveries.id));
      return { data, total: await countRows(db, counted) };
    },

    getDelivery,

    /**
     * Makes an ended delivery pending again, under the next number.
     * @throws Problem not_found, delivery_in_flight
     */
    async redeliver(customerId: string, id: string): Promise<void> {
      const [again] = await db.orm
        .update(outputDeliveries)
        .set({
          ...{ status: 'pending', completedAt: null, lastError: null },
          redeliveries: sql`${outputDeliveries.redeliveries} + 1`,
        })
        .where(
          and(
            eq(outputDeliveries.customerId, customerId),
            eq(outputDeliveries.id, id),
            ne(outputDeliveries.status, 'pending'),
          ),
        )
        .returning({ id: outputDeliveries.id });
      if (again) return;
      await getDelivery(customerId, id);
      throw new Problem('delivery_in_flight');
    },

    /**
     * Counts an attempt before it is made.
     * @returns undefined when there is nothing to send any more
     */
    async startAttempt(ref: OutputDeliveryRef) {
      const [counted] = await db.orm
        .update(outputDeliveries)
        .set({ attempts: sql`${outputDeliveries.attempts} + 1` })
        .where(pending(ref))
        .returning({ id: outputDeliveries.id });
      if (!counted) return undefined;
      const [attempt] = await db.orm
        .select({ destination: outputDestinations, project: projects, artifact: artifacts })
        .from(outputDeliveries)
        .innerJoin(outputDestinations, ofItsDestination)
        .innerJoin(projects, eq(projects.id, outputDeliveries.projectId))
        .innerJoin(artifacts, eq(artifacts.id, outputDeliveries.artifactId))
        .where(eq(outputDeliveries.id, ref.deliveryId));
      return attempt;
    },

    async recordDelivered(ref: OutputDeliveryRef): Promise<void> {
      await db.orm
        .update(outputDeliveries)
        .set({ status: 'delivered', lastError: null, completedAt: sql`now()` })
        .where(pending(ref));
    },

    /** @param isFinal no other attempt is to follow */
    async recordError(ref: OutputDeliveryRef, lastError: string, isFinal: boolean): Promise<void> {
      await db.orm
        .update(outputDeliveries)
        .set({ lastError, ...(isFinal && { status: 'failed' as const, completedAt: sql`now()` }) })
        .where(pending(ref));
    },

    /** No attempt is left; the error of the last one stays, where it left one. */
    async recordExhausted(ref: OutputDeliveryRef): Promise<void> {
      await db.orm
        .update(outputDeliveries)
        .set({
          ...{ status: 'failed', completedAt: sql`now()` },
          lastError: sql`coalesce(${outputDeliveries.lastError}, 'no attempt came to an end')`,
        })
        .where(pending(ref));
    },

    /** Of these, what still waits to be sent; of any workspace, as whoever asks has just recorded them. */
    listStartable: (ids: readonly string[]) => startable(inArray(outputDeliveries.id, [...ids])),

    /** Of all workspaces, for housekeeping: what waits for longer than that, in pages by id. */
    listPending: ({ olderThanS, after, limit }: PendingPage) =>
      startable(
        and(
          lt(outputDeliveries.createdAt, sql`now() - make_interval(secs => ${olderThanS})`),
          after === undefined ? undefined : gt(outputDeliveries.id, after),
        ),
      ).limit(limit),
  };
};
