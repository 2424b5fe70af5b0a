import { boolean, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '../../platform/db/columns.ts';

/** Switches of the deployment, each with exceptions for single workspaces. */
export const featureFlags = pgTable('feature_flags', {
  name: text('name').primaryKey(),
  description: text('description'),
  enabled: boolean('enabled').notNull(),
  /** Exceptions by customer id. */
  workspaces: jsonb('workspaces').$type<Record<string, boolean>>().notNull().default({}),
  updatedBy: text('updated_by').notNull(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});
