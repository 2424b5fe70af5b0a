import { sql } from 'drizzle-orm';
import { check, jsonb, pgEnum, pgTable, text } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { PLANS, WORKSPACE_STATUSES } from './model.ts';

export const workspacePlan = pgEnum('workspace_plan', PLANS);
export const workspaceStatus = pgEnum('workspace_status', WORKSPACE_STATUSES);

export const workspaces = pgTable(
  'workspaces',
  {
    /** `acc_...`, issued by the identity provider. */
    identityWorkspaceId: text('identity_workspace_id').primaryKey(),
    /** Slug of the id; what every other table refers to. */
    customerId: text('customer_id').notNull().unique(),
    plan: workspacePlan('plan').notNull(),
    status: workspaceStatus('status').notNull().default('pending'),
    runtimeBaseUrl: text('runtime_base_url'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    config: jsonb('config').$type<Record<string, unknown>>(),
    createdAt: createdAt(),
    readyAt: instant('ready_at'),
    archivedAt: instant('archived_at'),
  },
  (t) => [check('workspaces_archived_once', sql`(${t.archivedAt} is not null) = (${t.status} = 'archived')`)],
);
