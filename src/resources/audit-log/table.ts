import { bigserial, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { createdAt } from '../../platform/db/columns.ts';

/** Who changed what about a workspace, and when. Written before the change, completed after it. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    customerId: text('customer_id').notNull(),
    actor: text('actor').notNull(),
    /** Id of the endpoint. */
    action: text('action').notNull(),
    /** The path parameters: which one. */
    target: jsonb('target').$type<Record<string, unknown>>().notNull(),
    /** The body, without contents and secrets. */
    change: jsonb('change').$type<Record<string, unknown>>().notNull(),
    /** Of the answer; null while it is not known, and for ever where the process died meanwhile. */
    status: integer('status'),
    createdAt: createdAt(),
  },
  (t) => [
    // The list, newest first.
    index('audit_log_by_workspace').on(t.customerId, t.id),
    // Retention.
    index('audit_log_by_time').on(t.createdAt),
  ],
);
