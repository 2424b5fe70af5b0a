import { boolean, integer, json, pgEnum, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { EFFECTS } from '../runs/model.ts';
import { workspaces } from '../workspaces/table.ts';
import { TOOL_ACCESS, TOOL_KINDS, TOOL_SHAPES } from './model.ts';

export const toolKind = pgEnum('tool_kind', TOOL_KINDS);
export const toolShape = pgEnum('tool_shape', TOOL_SHAPES);
export const toolAccess = pgEnum('tool_access', TOOL_ACCESS);

/** Custom tools. */
export const tools = pgTable(
  'tools',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    slug: text('slug').notNull(),
    /** Graph node id. */
    id: integer('id').notNull().unique().generatedAlwaysAsIdentity(),
    description: text('description').notNull(),
    kind: toolKind('kind').notNull(),
    shape: toolShape('shape').notNull(),
    access: toolAccess('access').notNull().default('both'),
    /** The slug of the integration whose credential it uses. */
    integration: text('integration'),
    effect: text('effect', { enum: EFFECTS }).notNull(),
    sensitive: boolean('sensitive').notNull(),
    /** The JSON Schema of its arguments. The type is not jsonb, which forgets the order that its author gave them. */
    schema: json('schema').$type<Record<string, unknown>>().notNull(),
    /**
     * The body that its kind needs, as JSON. All of it is sealed: addresses, headers, scripts and environments may each
     * carry a secret.
     */
    sealedBody: text('sealed_body').notNull(),
    /** It grows by one with each change. */
    version: integer('version').notNull().default(1),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.slug] })],
);
