import { index, pgEnum, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';
import { HEALTH_STATUSES } from './model.ts';

export const credentialHealth = pgEnum('credential_health', HEALTH_STATUSES);

/** What a workspace gave for its `customer_token` slots. */
export const integrationCredentials = pgTable(
  'integration_credentials',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** Of the integration. */
    slug: text('slug').notNull(),
    kind: text('kind').notNull(),
    scope: text('scope').notNull().default('shared'),
    /** New with every value. */
    tokenId: uuid('token_id').notNull().unique(),
    /** By the secret box; its owner is `<customer>/integration_credentials/<slug>/<kind>/<scope>`. */
    sealed: text('sealed').notNull(),
    health: credentialHealth('health').notNull().default('unchecked'),
    /** When the provider last answered. */
    checkedAt: instant('checked_at'),
    /** When to ask it next. A worker that takes the check moves it on first, so that no other takes it too. */
    checkAt: instant('check_at').notNull().defaultNow(),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.slug, t.kind, t.scope] }),
    // The next ones to check.
    index('integration_credentials_to_check').on(t.checkAt),
  ],
);

/** What a workspace gave for its `secrets` slots, by `section.key`. */
export const integrationSecrets = pgTable(
  'integration_secrets',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    slug: text('slug').notNull(),
    dotted: text('dotted').notNull(),
    /** Its owner is `<customer>/integration_secrets/<slug>/<dotted>`. */
    sealed: text('sealed').notNull(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.slug, t.dotted] })],
);
