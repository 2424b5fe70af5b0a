/** What the operator notes about customers. */
import { index, pgEnum, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';
import { CRM_STATUSES } from './model.ts';

export const crmStatus = pgEnum('crm_status', CRM_STATUSES);

export const crmCustomers = pgTable('crm_customers', {
  customerId: text('customer_id')
    .primaryKey()
    .references(() => workspaces.customerId),
  status: crmStatus('status').notNull(),
  updatedBy: text('updated_by').notNull(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});

export const crmNotes = pgTable(
  'crm_notes',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    author: text('author').notNull(),
    text: text('text').notNull(),
    createdAt: createdAt(),
  },
  // It serves the notes on a customer, newest first, as ids are UUIDv7.
  (t) => [index('crm_notes_by_customer').on(t.customerId, t.id)],
);
