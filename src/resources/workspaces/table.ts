import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, instant, startDue } from '../../platform/db/columns.ts';
import { ROLES } from '../../platform/core/rights.ts';
import { PLANS, WORKSPACE_STATUSES, type Provisioned } from './model.ts';

export const workspacePlan = pgEnum('workspace_plan', PLANS);
export const workspaceStatus = pgEnum('workspace_status', WORKSPACE_STATUSES);

export const workspaces = pgTable(
  'workspaces',
  {
    /** `acc_...`, issued by the identity provider. */
    identityWorkspaceId: text('identity_workspace_id').primaryKey(),
    /** Slug of the id; what every other table refers to. */
    customerId: text('customer_id').notNull().unique(),
    /** What it is on or, while that is not paid for, what it asked for. */
    plan: workspacePlan('plan').notNull(),
    /** Given by the operator, or where nothing is billed: counts unpaid, and whatever becomes of a subscription. */
    grantedPlan: workspacePlan('granted_plan'),
    /** What the subscription on record was paid for. */
    paidPlan: workspacePlan('paid_plan'),
    /** Whose caps count. Plans are declared in the order of what they allow, but for the operator's own. */
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
    /** What provisioning made: what is to be taken down again. */
    provisioned: jsonb('provisioned').$type<Provisioned>().notNull().default({}),
    /** Counts provisionings and destructions: each is a workflow of its own. */
    generation: integer('generation').notNull().default(0),
    /** Last row of the audit log from before it was made again: its members are shown what comes after. */
    auditFrom: bigint('audit_from', { mode: 'number' }),
    /** First transaction whose events are all kept: before it are those of an earlier life, or that were deleted as old. */
    eventsFrom: bigint('events_from', { mode: 'number' }).notNull().default(0),
    /** It is being taken down since then: nothing new is accepted. Also set after a destruction that failed. */
    destroyingSince: instant('destroying_since'),
    /** When housekeeping looks whether its provisioning has begun, and whether it is still going on. */
    dueAt: startDue('due_at').notNull(),
    /** Managed infrastructure is paid for up to here. */
    infraChargedUntil: instant('infra_charged_until'),
    createdAt: createdAt(),
    readyAt: instant('ready_at'),
    archivedAt: instant('archived_at'),
  },
  (t) => [
    // Housekeeping: provisionings that have not begun, and those that are under way.
    index('workspaces_pending')
      .on(t.dueAt)
      .where(sql`${t.status} = 'pending'`),
    index('workspaces_provisioning')
      .on(t.dueAt)
      .where(sql`${t.status} = 'provisioning'`),
    check('workspaces_archived_once', sql`(${t.archivedAt} is not null) = (${t.status} = 'archived')`),
  ],
);

export const memberRole = pgEnum('member_role', ROLES);

/** Who may sign in to a workspace. */
export const workspaceMembers = pgTable(
  'workspace_members',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** In lower case. */
    email: text('email').notNull(),
    role: memberRole('role').notNull(),
    invitedBy: text('invited_by').notNull(),
    lastLoginAt: instant('last_login_at'),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('workspace_members_once').on(t.customerId, t.email),
    // Sign-in: the workspaces of an address.
    index('workspace_members_by_email').on(t.email),
  ],
);

/** Whom a workspace took out. The identity provider may go on saying that they belong to it. */
export const formerMembers = pgTable(
  'former_members',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** In lower case. */
    email: text('email').notNull(),
    removedAt: instant('removed_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.email] })],
);
