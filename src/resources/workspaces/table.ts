import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, jsonb, pgEnum, pgTable, text } from 'drizzle-orm/pg-core';
import { createdAt, instant, startDue } from '../../platform/db/columns.ts';
import { PLANS, WORKSPACE_STATUSES, type Provisioned } from './model.ts';

export const workspacePlan = pgEnum('workspace_plan', PLANS);
export const workspaceStatus = pgEnum('workspace_status', WORKSPACE_STATUSES);

export const workspaces = pgTable(
  'workspaces',
  {
    /** An id such as `acc_acme`, issued by the identity provider. */
    identityWorkspaceId: text('identity_workspace_id').primaryKey(),
    /** The slug of the id, to which every other table refers. */
    customerId: text('customer_id').notNull().unique(),
    /** The plan of the workspace or, while that is not paid for, the one that it asked for. */
    plan: workspacePlan('plan').notNull(),
    /** The operator gave this plan, or nothing is billed: it counts unpaid, and whatever becomes of a subscription. */
    grantedPlan: workspacePlan('granted_plan'),
    /** The subscription on record was paid for this plan. */
    paidPlan: workspacePlan('paid_plan'),
    /** The caps of this plan count. Plans are declared in the order of what they allow, but for the operator's own. */
    planInForce: workspacePlan('plan_in_force')
      .notNull()
      .generatedAlwaysAs(
        sql`case when plan = 'internal' then plan else greatest(granted_plan, paid_plan, 'free'::workspace_plan) end`,
      ),
    status: workspaceStatus('status').notNull().default('pending'),
    runtimeBaseUrl: text('runtime_base_url'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    config: jsonb('config').$type<Record<string, unknown>>(),
    /** Everything that provisioning made, and a destruction has to take down. */
    provisioned: jsonb('provisioned').$type<Provisioned>().notNull().default({}),
    /** It counts provisionings and destructions, each of which is a workflow of its own. */
    generation: integer('generation').notNull().default(0),
    /**
     * The last row of the audit log from before the workspace was made again: its members are shown what comes after.
     */
    auditFrom: bigint('audit_from', { mode: 'number' }),
    /**
     * The first transaction whose events are all kept: earlier ones are those of an earlier life, or were deleted as
     * old.
     */
    eventsFrom: bigint('events_from', { mode: 'number' }).notNull().default(0),
    /**
     * The workspace has been taken down since this time: nothing new is accepted. It stays set after a destruction that
     * failed.
     */
    destroyingSince: instant('destroying_since'),
    /** At this time housekeeping looks whether the provisioning has begun, and whether it is still going on. */
    dueAt: startDue('due_at').notNull(),
    /** When housekeeping last compared its schedules with its rows. */
    schedulesCheckedAt: instant('schedules_checked_at').notNull().defaultNow(),
    /** Managed infrastructure is paid for up to this time. */
    infraChargedUntil: instant('infra_charged_until'),
    createdAt: createdAt(),
    readyAt: instant('ready_at'),
    archivedAt: instant('archived_at'),
  },
  (t) => [
    // Housekeeping finds by these the provisionings that have not begun, and those that are under way.
    index('workspaces_pending')
      .on(t.dueAt)
      .where(sql`${t.status} = 'pending'`),
    index('workspaces_provisioning')
      .on(t.dueAt)
      .where(sql`${t.status} = 'provisioning'`),
    index('workspaces_by_schedules_checked').on(t.schedulesCheckedAt),
    check('workspaces_archived_once', sql`(${t.archivedAt} is not null) = (${t.status} = 'archived')`),
  ],
);
