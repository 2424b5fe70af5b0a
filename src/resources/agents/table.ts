import { boolean, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { EFFORTS } from '../../platform/core/effort.ts';
import { workspaces } from '../workspaces/table.ts';
import { ON_LOST_EFFECT } from './model.ts';

/** Custom agents; built-in ones are files under `builtin/`. */
export const agents = pgTable(
  'agents',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    slug: text('slug').notNull(),
    description: text('description').notNull().default(''),
    prompt: text('prompt').notNull(),
    sessionPrompt: text('session_prompt').notNull().default(''),
    heartbeatPrompt: text('heartbeat_prompt').notNull().default(''),
    model: text('model').notNull(),
    allowedTools: text('allowed_tools').array().notNull().default([]),
    defaultWorkspace: text('default_workspace'),
    memoryMode: text('memory_mode').notNull().default('both'),
    /** What a run of it does about an irreversible call of which nobody knows whether it took effect. */
    onLostEffect: text('on_lost_effect', { enum: ON_LOST_EFFECT }).notNull().default('tell'),
    version: text('version').notNull().default('1'),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.slug] })],
);

/** What a workspace changed about an agent without owning its definition, of built-in and custom agents alike. */
export const agentSettings = pgTable(
  'agent_settings',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    slug: text('slug').notNull(),
    /** Null leaves the model as the definition has it. */
    model: text('model'),
    defaultModel: text('default_model'),
    selectionMode: text('selection_mode'),
    reasoning: boolean('reasoning'),
    resolverEnforce: boolean('resolver_enforce'),
    /** How hard the model thinks; null leaves it to the model. */
    effort: text('effort', { enum: EFFORTS }),
    /** Counted in tokens; null leaves it to the model and to what the budgets can pay. */
    maxOutputTokens: integer('max_output_tokens'),
    /** Ids of models that are asked, in this order, while the provider of the agent's own is out. */
    fallbackModels: text('fallback_models').array().notNull().default([]),
    voice: text('voice'),
    /** The picture has this key in file storage. */
    avatarFile: text('avatar_file'),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.slug] }), index('agent_settings_by_slug').on(t.slug)],
);
