/** The feed of events of projects: rows are added with what they tell of, and never changed. */
import { sql } from 'drizzle-orm';
import { bigserial, index, integer, jsonb, pgEnum, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { eventPlace, instant } from '../../platform/db/columns.ts';
import type { ActorKind } from '../projects/model.ts';
import { EVENT_CATEGORIES, EVENT_LEVELS, type Topic } from '../projects/feed/model.ts';
import { projects } from '../projects/table.ts';

export const eventLevel = pgEnum('event_level', EVENT_LEVELS);
export const eventCategory = pgEnum('event_category', EVENT_CATEGORIES);

export const projectEvents = pgTable(
  'project_events',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    ts: instant('ts').notNull().defaultNow(),
    taskId: uuid('task_id'),
    subtaskId: uuid('subtask_id'),
    attemptNumber: integer('attempt_number'),
    level: eventLevel('level').notNull(),
    category: eventCategory('category').notNull(),
    topic: text('topic').$type<Topic>().notNull(),
    actorKind: text('actor_kind').$type<ActorKind>().notNull(),
    actorId: text('actor_id'),
    payload: jsonb('payload').$type<Record<string, unknown>>().notNull(),
    traceId: uuid('trace_id'),
    ...eventPlace(),
  },
  (t) => [
    // It serves the log of the workspace, of which this is the part of its projects.
    index('project_events_in_order').on(t.customerId, t.tx, t.seq),
    // Read backwards these give the newest first: the feed by workspace and time, what is rare in it, a project's own,
    // and a step's.
    index('project_events_by_time').on(t.customerId, t.ts, t.id),
    index('project_events_by_category')
      .on(t.customerId, t.category, t.ts, t.id)
      .where(sql`${t.category} not in ('task', 'subtask')`),
    index('project_events_by_level')
      .on(t.customerId, t.level, t.ts, t.id)
      .where(sql`${t.level} <> 'info'`),
    index('project_events_by_project').on(t.projectId, t.id),
    index('project_events_by_subtask')
      .on(t.subtaskId, t.id)
      .where(sql`${t.subtaskId} is not null`),
  ],
);
