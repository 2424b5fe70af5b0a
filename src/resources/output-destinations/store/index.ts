/**
 * Queries on output deliveries; those on destinations lie beside them and come along. A delivery is written only while
 * it is `pending` and only for its latest redelivery. So whatever comes late (a retried activity, a workflow that was
 * overtaken) changes nothing.
 */
import { and, asc, desc, eq, inArray, ne, sql, type SQL } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { createCircuits, type Receivers } from '../../../platform/db/circuit.ts';
import { behindOf, putOff, takeDue, type ClaimQueue, type Turn } from '../../../platform/db/in-turn.ts';
import { START_AGAIN_MS } from '../../../platform/temporal/starting.ts';
import { insertLogEvent } from '../../event-log/store/write.ts';
import { HAS_SAMPLE_CONTENT } from '../../projects/store/project-columns.ts';
import { artifacts, projects } from '../../projects/table.ts';
import { belowPlace, countRows, findPage, listFilters } from '../../tallies/store.ts';
import { PAUSE_AFTER_MS } from '../../webhook-subscriptions/model.ts';
import { workspaces } from '../../workspaces/table.ts';
import type { OutputDeliveryQuery, OutputDeliveryRow } from '../contract.ts';
import { createDestinationRows, type DestinationRow } from './destinations.ts';
import type { OUTPUT_DELIVERY_STATUSES, OutputDeliveryRef } from '../model.ts';
import { addressNotices } from './notices.ts';
import { holdAnswers, releaseConfirmed } from './recipients.ts';
import type { OutputError } from '../send/output.ts';
import { outputDeliveries, outputDestinations } from '../table.ts';

export type DestinationStore = ReturnType<typeof createDestinationStore>;
type DeliveryValues = PgUpdateSetSource<typeof outputDeliveries>;
export type StartedOutput = NonNullable<Awaited<ReturnType<DestinationStore['startAttempt']>>>;
export type StartableOutput = Awaited<ReturnType<DestinationStore['listStartable']>>[number];

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
  wait_id: outputDeliveries.waitId,
  notice: outputDeliveries.notice,
  recipient: outputDeliveries.recipient,
  status: outputDeliveries.status,
  attempts: outputDeliveries.attempts,
  redeliveries: outputDeliveries.redeliveries,
  last_error: outputDeliveries.lastError,
  withheld_from: outputDeliveries.withheldFrom,
  created_at: outputDeliveries.createdAt,
  completed_at: outputDeliveries.completedAt,
};

/** Starting the workflow of a delivery takes these columns. */
const STARTABLE = {
  customerId: outputDeliveries.customerId,
  deliveryId: outputDeliveries.id,
  redelivery: outputDeliveries.redeliveries,
  projectId: outputDeliveries.projectId,
  kind: outputDestinations.kind,
  workspaceId: workspaces.identityWorkspaceId,
};

const PENDING: ClaimQueue = { table: 'output_deliveries', at: 'due_at', open: sql`status = 'pending'` };
/** Tells how far behind housekeeping is, by its chore. */
export const OUTPUTS_BEHIND = { startOutputs: behindOf(PENDING) };

const DESTINATIONS: Receivers = { table: 'output_destinations', on: 'enabled', name: 'name' };

/**
 * @param options.pauseAfterMs a destination that takes nothing for this long is paused
 * @param options.lookAgainMs after this time somebody looks whether Temporal still has a delivery
 */
const chooseDeliveries = listFilters('output_deliveries', outputDeliveries.customerId, {
  // The status is in the text of the statement, so that the planner knows it and uses the index of rare ones.
  status: (status: (typeof OUTPUT_DELIVERY_STATUSES)[number]) =>
    sql`${outputDeliveries.status} = ${sql.raw(`'${status}'`)}`,
  destination_id: (id: string) => eq(outputDeliveries.destinationId, id),
});

export const createDestinationStore = (db: Database, { pauseAfterMs = PAUSE_AFTER_MS, lookAgainMs = 300_000 } = {}) => {
  const { moveCircuit, ...pauses } = createCircuits(db, DESTINATIONS, pauseAfterMs);
  const destinationOf = ({ deliveryId }: OutputDeliveryRef): SQL =>
    sql`id = (select o.destination_id from output_deliveries o where o.id = ${deliveryId})`;

  const log = () =>
    db.orm.select(DELIVERY).from(outputDeliveries).innerJoin(outputDestinations, ofItsDestination).$dynamic();

  /** @throws Problem not_found */
  async function getDelivery(customerId: string, id: string): Promise<OutputDeliveryRow> {
    const [row] = await log().where(and(eq(outputDeliveries.customerId, customerId), eq(outputDeliveries.id, id)));
    return found(row);
  }

  /** In a transaction. Whoever follows the workspace hears of an end. */
  async function record(ref: OutputDeliveryRef, came: DeliveryValues): Promise<void> {
    const [changed] = await db.orm
      .update(outputDeliveries)
      .set(came)
      .where(pending(ref))
      .returning({ status: outputDeliveries.status });
    if (!changed || changed.status === 'pending') return;
    await db.rows(
      insertLogEvent(sql`(select * from output_deliveries where id = ${ref.deliveryId})`, {
        kind: 'output',
        topic: changed.status,
        subject: sql`guard.id`,
        customerId: sql`guard.customer_id`,
        projectId: sql`guard.project_id`,
        payload: sql`jsonb_build_object('destination_id', guard.destination_id, 'artifact_id', guard.artifact_id, 'wait_id', guard.wait_id,
          'attempts', guard.attempts, 'withheld', cardinality(guard.withheld_from))`,
      }),
    );
  }

  /** Whoever confirms at this moment is not forgotten: housekeeping starts what is then pending again. */
  const recordWaiting = (
    ref: OutputDeliveryRef,
    withheldFrom: readonly string[],
    came: DeliveryValues,
  ): Promise<void> =>
    db.transaction(async () => {
      if (withheldFrom.length > 0) await holdAnswers(db, ref.deliveryId, withheldFrom);
      await record(ref, came);
      if (withheldFrom.length > 0) await releaseConfirmed(db, eq(outputDeliveries.id, ref.deliveryId));
    });

  const startable = (which: SQL | undefined) =>
    db.orm
      .select(STARTABLE)
      .from(outputDeliveries)
      .innerJoin(outputDestinations, ofItsDestination)
      .innerJoin(workspaces, eq(workspaces.customerId, outputDeliveries.customerId))
      .where(and(eq(outputDeliveries.status, 'pending'), sql`${outputDeliveries.dueAt} < 'infinity'`, which))
      .orderBy(asc(outputDeliveries.id))
      .$dynamic();

  return {
    ...createDestinationRows(db),

    async listDeliveries(customerId: string, { limit, offset, ...filter }: OutputDeliveryQuery) {
      const { where, tallied } = chooseDeliveries(customerId, filter);
      const start = await findPage(db, tallied, offset);
      const page = db.orm
        .select({ id: outputDeliveries.id })
        .from(outputDeliveries)
        .where(and(where, belowPlace(outputDeliveries.id, start)))
        .orderBy(desc(outputDeliveries.id))
        .limit(limit)
        .offset(start.offset);
      const data = await log()
        .where(sql`${outputDeliveries.id} in ${page}`)
        .orderBy(desc(outputDeliveries.id));
      return { data, total: await countRows(db, tallied) };
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
          status: 'pending',
          completedAt: null,
          lastError: null,
          withheldFrom: [],
          dueAt: sql`default`,
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

    /** Counts an attempt before it is made. @returns undefined where nothing is left to send */
    async startAttempt(ref: OutputDeliveryRef) {
      const [counted] = await db.orm
        .update(outputDeliveries)
        .set({ attempts: sql`${outputDeliveries.attempts} + 1` })
        .where(pending(ref))
        .returning({ id: outputDeliveries.id });
      if (!counted) return undefined;
      const [attempt] = await db.orm
        .select({
          destination: outputDestinations,
          project: projects,
          artifact: artifacts,
          isSample: sql<boolean>`exists (
            select 1 from projects p where p.id = ${outputDeliveries.projectId} and ${HAS_SAMPLE_CONTENT})`,
          withheldFrom: outputDeliveries.withheldFrom,
          waitId: outputDeliveries.waitId,
          notice: outputDeliveries.notice,
          nth: outputDeliveries.nth,
          revision: outputDeliveries.revision,
          recipient: outputDeliveries.recipient,
        })
        .from(outputDeliveries)
        .innerJoin(outputDestinations, ofItsDestination)
        .leftJoin(projects, eq(projects.id, outputDeliveries.projectId))
        .leftJoin(artifacts, eq(artifacts.id, outputDeliveries.artifactId))
        .where(eq(outputDeliveries.id, ref.deliveryId));
      return attempt;
    },

    /** @param withheldFrom the delivery goes to these addresses once they confirm */
    async recordDelivered(ref: OutputDeliveryRef, withheldFrom: readonly string[]): Promise<void> {
      await moveCircuit(destinationOf(ref), true);
      await recordWaiting(ref, withheldFrom, {
        status: 'delivered',
        lastError: null,
        withheldFrom: [...withheldFrom],
        completedAt: sql`now()`,
      });
    },

    /** After a final error no other attempt follows. */
    async recordError(ref: OutputDeliveryRef, { message, isFinal, withheldFrom }: OutputError): Promise<void> {
      // People who have not answered are no receiver that fails, so the circuit does not move.
      if (withheldFrom.length === 0) await moveCircuit(destinationOf(ref), false);
      await recordWaiting(ref, withheldFrom, {
        lastError: message,
        ...(isFinal && { status: 'failed', completedAt: sql`now()` }),
        ...(withheldFrom.length > 0 && { withheldFrom: [...withheldFrom] }),
      });
    },

    /** No attempt is left; the error of the last one stays, where it left one. */
    recordExhausted: (ref: OutputDeliveryRef): Promise<void> =>
      db.transaction(() =>
        record(ref, {
          status: 'failed',
          completedAt: sql`now()`,
          lastError: sql`coalesce(${outputDeliveries.lastError}, 'no attempt came to an end')`,
        }),
      ),

    /** @returns those that still wait to be sent, of any workspace, because the caller has just recorded them */
    listStartable: (ids: readonly string[]) => startable(inArray(outputDeliveries.id, [...ids])),

    /**
     * Takes deliveries of all workspaces for housekeeping: those that nobody knows to be under way, or has looked at
     * for long.
     */
    async takeDue(turn: Turn) {
      await addressNotices(db);
      return takeDue(db, PENDING, turn, START_AGAIN_MS);
    },

    /** Notes that Temporal has these. */
    noteStarted: (started: readonly OutputDeliveryRef[]) => putOff(db, PENDING, started, lookAgainMs),

    ...pauses,

    /** @returns the destination; undefined where nothing is left to send */
    async loadTarget(ref: OutputDeliveryRef): Promise<DestinationRow | undefined> {
      const [row] = await db.orm
        .select({ destination: outputDestinations })
        .from(outputDeliveries)
        .innerJoin(outputDestinations, ofItsDestination)
        .where(pending(ref));
      return row?.destination;
    },
  };
};

/** Selects `name` and `created_at` of the destinations of a workspace. */
export const namedDestinations = (customerId: string): SQL =>
  sql`select name, created_at from output_destinations where customer_id = ${customerId}`;

/** Selects `kind`, `status` and `created_at` of all deliveries of the deployment that are still to be sent. */
export const PENDING_OUTPUTS: SQL = sql`
  select 'output_delivery', status::text, created_at from output_deliveries where status = 'pending'`;
