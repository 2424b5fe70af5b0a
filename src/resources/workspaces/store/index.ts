/**
 * Queries on workspaces. With them come the lock under which every count cap is held, and what a teardown ends.
 *
 * A workspace moves on in statements that name the state it moves on from: its status and, for what a workflow writes,
 * its generation. A late or repeated one changes nothing.
 */
import { and, asc, eq, inArray, isNull, sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { Taken } from '../../../platform/db/in-turn.ts';
import type { TenantData } from '../../../platform/db/tenant-data.ts';
import { customerIdOf, INTERNAL_WORKSPACE } from '../../../platform/core/ids.ts';
import { createCaps } from './caps.ts';
import { forget } from '../lives.ts';
import { type Plan, type WorkspaceRef } from '../model.ts';
import { workspaces } from '../table.ts';
import { createTeardownRows } from './teardown.ts';

export type WorkspaceStore = ReturnType<typeof createWorkspaceStore>;
export type WorkspaceRow = typeof workspaces.$inferSelect;
type Status = WorkspaceRow['status'];

interface NewWorkspaceRow {
  workspaceId: string;
  plan: Plan;
  config: Record<string, unknown> | null;
  /** Says that the plan counts although nobody pays for it. */
  isGranted?: boolean;
}

const isRef = ({ customerId, generation }: WorkspaceRef): SQL | undefined =>
  and(eq(workspaces.customerId, customerId), eq(workspaces.generation, generation));
/** So many workspaces are looked at together. */
const DUE = 100;
/** A provisioning that was started and has not begun is looked at again after this time. */
const START_LOOK_MS = 300_000;
const SOON = { dueAt: sql`now() + interval '15 seconds'` };
const NO_ERROR = { errorCode: null, errorMessage: null };
const NEXT_GENERATION = { generation: sql`${workspaces.generation} + 1` };

/** @param tables says what becomes of the rows of each */
export const createWorkspaceStore = (db: Database, tables: TenantData) => {
  const makeAgain = async (workspaceId: string, { isGranted, ...asked }: Omit<NewWorkspaceRow, 'workspaceId'>) => {
    // A plan that was given once is not taken away by asking again; a subscription outlives its workspace, and so does
    // what it paid for.
    const kept = sql`case when granted_plan is not null then least(granted_plan, ${asked.plan}::workspace_plan) end`;
    const [row] = await db.orm
      .update(workspaces)
      .set({
        ...asked,
        grantedPlan: isGranted ? asked.plan : kept,
        status: 'pending',
        ...SOON,
        ...NO_ERROR,
        ...NEXT_GENERATION,
        provisioned: {},
        archivedAt: null,
        readyAt: null,
        runtimeBaseUrl: null,
        infraChargedUntil: null,
        createdAt: sql`now()`,
        // The request that makes the workspace again has no answer in the log yet.
        auditFrom: sql`(select max(id) from audit_log a where a.customer_id = ${workspaces.customerId} and a.status is not null)`,
        eventsFrom: sql`event_tx()`,
      })
      .where(and(eq(workspaces.identityWorkspaceId, workspaceId), eq(workspaces.status, 'archived')))
      .returning();
    if (row) await forget(tables, row.customerId, 'made again', (statement) => db.rows(statement));
    return row;
  };

  return {
    ...createCaps(db),
    ...createTeardownRows(db, tables),

    /** Makes the tenant that operates the deployment, at the first start. */
    async seedInternal(runtimeBaseUrl: string): Promise<void> {
      await db.orm
        .insert(workspaces)
        .values({
          identityWorkspaceId: INTERNAL_WORKSPACE,
          customerId: 'internal',
          plan: 'internal',
          status: 'ready',
          runtimeBaseUrl,
          readyAt: sql`now()`,
        })
        .onConflictDoNothing();
    },

    /**
     * @param customerId the one workspace that is asked for; without one all are listed
     * @returns workspaces, the oldest first
     */
    list: (customerId?: string): Promise<WorkspaceRow[]> =>
      db.orm
        .select()
        .from(workspaces)
        .where(customerId === undefined ? undefined : eq(workspaces.customerId, customerId))
        .orderBy(asc(workspaces.createdAt), asc(workspaces.identityWorkspaceId)),

    async find(workspaceId: string): Promise<WorkspaceRow | undefined> {
      const [row] = await db.orm.select().from(workspaces).where(eq(workspaces.identityWorkspaceId, workspaceId));
      return row;
    },

    async findByCustomer(customerId: string): Promise<WorkspaceRow | undefined> {
      const [row] = await db.orm.select().from(workspaces).where(eq(workspaces.customerId, customerId));
      return row;
    },

    /**
     * Of an archived one a new life begins, with nothing of the one before: leave little of it to be deleted here.
     * @param complete runs in the transaction that makes it
     * @returns undefined when the id, or another one of the same slug, is taken by a workspace that is not archived
     */
    create: (
      { workspaceId, plan, config, isGranted = false }: NewWorkspaceRow,
      complete: (made: { isAgain: boolean }) => Promise<void> = async () => {},
    ): Promise<WorkspaceRow | undefined> =>
      db.transaction(async () => {
        const [made] = await db.orm
          .insert(workspaces)
          .values({
            identityWorkspaceId: workspaceId,
            customerId: customerIdOf(workspaceId),
            plan,
            config,
            grantedPlan: isGranted ? plan : null,
            status: 'pending',
            generation: 1,
          })
          .onConflictDoNothing()
          .returning();
        const row = made ?? (await makeAgain(workspaceId, { plan, config, isGranted }));
        if (row) await complete({ isAgain: !made });
        return row;
      }),

    /**
     * Deletes what an archive is not read for any more, in short transactions.
     * @param isOver whether to leave the rest for another time
     * @returns whether nothing is left; false also where it is no archive any more
     */
    forgetArchive: (customerId: string, isOver: () => boolean): Promise<boolean> =>
      forget(tables, customerId, 'before made again', (statement) =>
        db.transaction(async () => {
          if (isOver()) return undefined;
          // The row is read at this moment, not when somebody began to ask: what is made meanwhile is of the new life.
          const [row] = await db.orm
            .select({ status: workspaces.status })
            .from(workspaces)
            .where(eq(workspaces.customerId, customerId))
            .for('share');
          return row?.status === 'archived' ? db.rows(statement) : undefined;
        }),
      ),

    /** @returns undefined where it has not failed, or failed in its destruction */
    async retry(workspaceId: string): Promise<WorkspaceRow | undefined> {
      const [row] = await db.orm
        .update(workspaces)
        .set({ status: 'pending', ...SOON, ...NO_ERROR, ...NEXT_GENERATION })
        .where(
          and(
            eq(workspaces.identityWorkspaceId, workspaceId),
            eq(workspaces.status, 'failed'),
            isNull(workspaces.destroyingSince),
          ),
        )
        .returning();
      return row;
    },

    /**
     * Sets the state that an operator gives. Whatever workflow was at work on the workspace is cut off, because its
     * generation is over.
     * @returns undefined where it is archived or being taken down
     */
    async setState(
      workspaceId: string,
      state: {
        status: Exclude<Status, 'pending' | 'archived'>;
        runtimeBaseUrl?: string | undefined;
        errorCode?: string | undefined;
        errorMessage?: string | undefined;
      },
    ): Promise<WorkspaceRow | undefined> {
      const { status, runtimeBaseUrl, errorCode, errorMessage } = state;
      const isFailed = status === 'failed';
      const [row] = await db.orm
        .update(workspaces)
        .set({
          status,
          ...SOON,
          ...NEXT_GENERATION,
          destroyingSince: null,
          ...(status === 'ready' && { readyAt: sql`now()` }),
          ...(runtimeBaseUrl !== undefined && { runtimeBaseUrl }),
          errorCode: isFailed ? (errorCode ?? 'set_by_operator') : null,
          errorMessage: isFailed ? (errorMessage ?? null) : null,
        })
        .where(
          and(
            eq(workspaces.identityWorkspaceId, workspaceId),
            sql`${workspaces.status} <> 'archived'`,
            // A destruction that failed is over; one that is going on is not.
            sql`(${workspaces.destroyingSince} is null or ${workspaces.errorCode} is not null)`,
          ),
        )
        .returning();
      return row;
    },

    /**
     * Takes workspaces whose provisioning has to begin, or is under way, and that are due for a look, the longest due
     * first. They are due again after `againMs`.
     */
    async takeDue(status: 'pending' | 'provisioning', againMs: number): Promise<Taken> {
      const rows = await db.rows<{ id: string }>(sql`
        with due as materialized (
          select customer_id from workspaces
          -- Known when the statement is planned, so that the index of these serves it.
          where status = ${sql.raw(`'${status}'`)} and due_at <= now() order by due_at limit ${DUE} for update skip locked
        )
        update workspaces set due_at = now() + ${againMs} * interval '1 ms'
        where customer_id in (select customer_id from due) returning customer_id as id`);
      return { ids: rows.map(({ id }) => id), last: undefined };
    },

    loadMany: (customerIds: readonly string[]): Promise<WorkspaceRow[]> =>
      db.orm
        .select()
        .from(workspaces)
        .where(inArray(workspaces.customerId, [...customerIds])),

    /** Notes that Temporal has these provisionings; whether it still has them is looked at later. */
    noteStarted: (refs: readonly WorkspaceRef[]) =>
      db.rows(sql`
        update workspaces set due_at = now() + ${START_LOOK_MS} * interval '1 ms'
        from unnest(${sql.param(refs.map(({ customerId }) => customerId))}::text[],
          ${sql.param(refs.map(({ generation }) => generation))}::int[]) as started (customer_id, generation)
        where workspaces.customer_id = started.customer_id and workspaces.generation = started.generation
          and status = 'pending'`),

    /** @returns the workspace to provision; undefined where it has moved on */
    async beginProvisioning(ref: WorkspaceRef): Promise<WorkspaceRow | undefined> {
      const [row] = await db.orm
        .update(workspaces)
        .set({ status: 'provisioning', ...SOON })
        .where(and(isRef(ref), inArray(workspaces.status, ['pending', 'provisioning'])))
        .returning();
      return row;
    },

    /** Notes the facts of a resource; undefined notes that it does not exist any more. */
    async recordResource(
      { customerId }: Pick<WorkspaceRef, 'customerId'>,
      resource: string,
      facts: Record<string, string> | undefined,
    ): Promise<void> {
      const provisioned = facts
        ? sql`${workspaces.provisioned} || ${JSON.stringify({ [resource]: facts })}::jsonb`
        : sql`${workspaces.provisioned} - ${resource}::text`;
      await db.orm
        .update(workspaces)
        .set({ provisioned })
        .where(and(eq(workspaces.customerId, customerId), sql`${workspaces.status} <> 'archived'`));
    },

    async recordReady(ref: WorkspaceRef, runtimeBaseUrl: string): Promise<void> {
      await db.orm
        .update(workspaces)
        .set({ status: 'ready', readyAt: sql`now()`, runtimeBaseUrl, ...NO_ERROR })
        .where(and(isRef(ref), eq(workspaces.status, 'provisioning')));
    },

    async recordProvisioningFailed(ref: WorkspaceRef, error: { code: string; message: string }): Promise<void> {
      await db.orm
        .update(workspaces)
        .set({ status: 'failed', errorCode: error.code, errorMessage: error.message })
        .where(and(isRef(ref), inArray(workspaces.status, ['pending', 'provisioning'])));
    },

    /**
     * Begins the destruction, from which on nothing new is accepted.
     * @returns false where the workspace has moved on, so that this destruction is none
     */
    async beginDestroying({ customerId, generation }: WorkspaceRef): Promise<boolean> {
      const begun = await db.orm
        .update(workspaces)
        .set({ generation, destroyingSince: sql`coalesce(${workspaces.destroyingSince}, now())`, ...NO_ERROR })
        .where(
          and(
            eq(workspaces.customerId, customerId),
            inArray(workspaces.status, ['ready', 'failed']),
            sql`(${workspaces.generation} = ${generation - 1}
            or ${workspaces.generation} = ${generation} and ${workspaces.destroyingSince} is not null)`,
          ),
        )
        .returning({ customerId: workspaces.customerId });
      return begun.length > 0;
    },

    /** Skips the generation of a destruction that could not be begun, so that it cannot begin later either. */
    async forgoDestroying({ customerId, generation }: WorkspaceRef): Promise<void> {
      await db.orm
        .update(workspaces)
        .set({ generation })
        .where(and(isRef({ customerId, generation: generation - 1 }), isNull(workspaces.destroyingSince)));
    },

    async recordDestroyFailed(ref: WorkspaceRef, error: { code: string; message: string }): Promise<void> {
      await db.orm
        .update(workspaces)
        .set({ status: 'failed', errorCode: error.code, errorMessage: error.message })
        .where(and(isRef(ref), sql`${workspaces.destroyingSince} is not null`));
    },

    async archive(ref: WorkspaceRef): Promise<void> {
      await db.orm
        .update(workspaces)
        .set({ status: 'archived', archivedAt: sql`now()`, destroyingSince: null, runtimeBaseUrl: null, ...NO_ERROR })
        .where(and(isRef(ref), sql`${workspaces.destroyingSince} is not null`));
    },
  };
};
