/** Reads of the feed. The stores of projects write it beside what it tells of. */
import { and, count, desc, eq, gt, sql, type SQL } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { countRows, listFilters } from '../tallies/store.ts';
import type { EventCategory, EventLevel } from '../projects/feed/model.ts';
import type { ProjectEventRow } from '../projects/reads/contract.ts';
import type { FeedQuery } from './contract.ts';
import { projectEvents } from './table.ts';

export type EventStore = ReturnType<typeof createEventStore>;

const columns = {
  id: projectEvents.id,
  ts: projectEvents.ts,
  project_id: projectEvents.projectId,
  task_id: projectEvents.taskId,
  subtask_id: projectEvents.subtaskId,
  attempt_number: projectEvents.attemptNumber,
  level: projectEvents.level,
  category: projectEvents.category,
  topic: projectEvents.topic,
  actor_kind: projectEvents.actorKind,
  actor_id: projectEvents.actorId,
  payload_jsonb: projectEvents.payload,
  trace_id: projectEvents.traceId,
};

/**
 * The word is in the text of the statement, so that the planner knows it and uses an index of rare ones. It is always
 * one of a contract's words.
 */
const literal = (word: EventCategory | EventLevel): SQL => sql.raw(`'${word}'`);

const chooseEvents = listFilters('project_events', projectEvents.customerId, {
  category: (category: EventCategory) => sql`${projectEvents.category} = ${literal(category)}`,
  level: (level: EventLevel) => sql`${projectEvents.level} = ${literal(level)}`,
});

export const createEventStore = (db: Database) => {
  const newest = (where: SQL | undefined, order: SQL[], limit: number): Promise<ProjectEventRow[]> =>
    db.orm
      .select(columns)
      .from(projectEvents)
      .where(where)
      .orderBy(...order)
      .limit(limit);
  const byId = [desc(projectEvents.id)];

  return {
    async listFeed(customerId: string, { limit, since_hours: hours, ...filter }: FeedQuery) {
      const { where: chosen, tallied } = chooseEvents(customerId, filter);
      const where = and(
        chosen,
        hours === 0 ? undefined : gt(projectEvents.ts, sql`now() - make_interval(hours => ${hours})`),
      );
      const rows = await newest(where, [desc(projectEvents.ts), ...byId], limit);
      if (hours === 0) {
        return { rows, total: await countRows(db, tallied) };
      }
      const total = first(await db.orm.select({ total: count() }).from(projectEvents).where(where));
      return { rows, total: total.total };
    },

    listOfProject: (customerId: string, projectId: string, limit: number) =>
      newest(and(eq(projectEvents.customerId, customerId), eq(projectEvents.projectId, projectId)), byId, limit),

    listOfSubtask: (customerId: string, subtaskId: string, limit: number) =>
      newest(and(eq(projectEvents.customerId, customerId), eq(projectEvents.subtaskId, subtaskId)), byId, limit),
  };
};
