import { bigserial, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { createdAt } from '../../platform/db/columns.ts';

/** Who changed what about a workspace, and when. A row is written before the change and completed after it. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    customerId: text('customer_id').notNull(),
    actor: text('actor').notNull(),
    /** The id of the endpoint. */
    action: text('action').notNull(),
    /** The path parameters, which say what was changed. */
    target: jsonb('target').$type<Record<string, unknown>>().notNull(),
    /** The body, without contents and secrets. */
    change: jsonb('change').$type<Record<string, unknown>>().notNull(),
    /** The status of the answer; null while it is not known, and for ever where the process died meanwhile. */
    status: integer('status'),
    createdAt: createdAt(),
  },
  (t) => [
    // It serves the list, newest first, of all rows and with each filter.
    index('audit_log_by_workspace').on(t.customerId, t.id),
    index('audit_log_by_action').on(t.customerId, t.action, t.id),
    index('audit_log_by_actor').on(t.customerId, t.actor, t.id),
    index('audit_log_by_workspace_and_time').on(t.customerId, t.createdAt, t.id, t.action, t.actor),
    // Retention deletes by it.
    index('audit_log_by_time').on(t.createdAt),
  ],
);
