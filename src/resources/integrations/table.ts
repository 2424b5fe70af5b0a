import { index, pgEnum, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';
import { HEALTH_STATUSES } from './model.ts';

export const credentialHealth = pgEnum('credential_health', HEALTH_STATUSES);

/** Values that a workspace gave for its `customer_token` slots. */
export const integrationCredentials = pgTable(
  'integration_credentials',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** The slug of the integration. */
    slug: text('slug').notNull(),
    kind: text('kind').notNull(),
    scope: text('scope').notNull().default('shared'),
    /** Every value gets a new one. */
    tokenId: uuid('token_id').notNull().unique(),
    /** The secret box seals it for the owner `<customer>/integration_credentials/<slug>/<kind>/<scope>`. */
    sealed: text('sealed').notNull(),
    health: credentialHealth('health').notNull().default('unchecked'),
    /** The provider last answered at this time. */
    checkedAt: instant('checked_at'),
    /**
     * The provider is asked again at this time. A worker that takes the check moves it on first, so that no other takes
     * it too.
     */
    checkAt: instant('check_at').notNull().defaultNow(),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.slug, t.kind, t.scope] }),
    // It finds the next tokens to check.
    index('integration_credentials_to_check').on(t.checkAt),
  ],
);

/** Values that a workspace gave for its `secrets` slots, by `section.key`. */
export const integrationSecrets = pgTable(
  'integration_secrets',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    slug: text('slug').notNull(),
    dotted: text('dotted').notNull(),
    /** The value is sealed for the owner `<customer>/integration_secrets/<slug>/<dotted>`. */
    sealed: text('sealed').notNull(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.slug, t.dotted] })],
);
