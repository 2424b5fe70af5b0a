/** The HTTP contract of the events feed: what happened in all projects of a workspace. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { limit, Timestamp } from '../../platform/http/schemas.ts';
import { ACTOR_KINDS, EVENT_CATEGORIES, EVENT_LEVELS, TOPICS, type Topic } from '../projects/model.ts';

export const ProjectEvent = z
  .object({
    id: z.int(),
    ts: Timestamp,
    project_id: z.string(),
    task_id: z.uuid().nullable(),
    subtask_id: z.uuid().nullable(),
    attempt_number: z.int().nullable(),
    level: z.enum(EVENT_LEVELS),
    category: z.enum(EVENT_CATEGORIES),
    topic: z.enum(Object.keys(TOPICS) as Topic[]),
    actor_kind: z.enum(ACTOR_KINDS),
    actor_id: z.string().nullable(),
    payload_jsonb: z.record(z.string(), z.unknown()),
    trace_id: z.uuid().nullable(),
  })
  .meta({ id: 'ProjectEvent' });
export type ProjectEventRow = z.input<typeof ProjectEvent>;

const FeedQuery = z.object({
  limit: limit(2_000, 500),
  since_hours: z.coerce.number().int().min(0).max(720).default(24).describe('0: no bound'),
  category: z.enum(EVENT_CATEGORIES).optional(),
  level: z.enum(EVENT_LEVELS).optional(),
});
export type FeedQuery = z.output<typeof FeedQuery>;

export const listProjectEvents = endpoint({
  id: 'events.list',
  surface: 'control-plane',
  method: 'get',
  path: '/v1/events',
  credential: 'session',
  summary: 'Events of all projects, newest first',
  query: FeedQuery,
  status: 200,
  reply: z.object({
    data: z.array(ProjectEvent),
    meta: z.object({ limit: z.int(), since_hours: z.int(), total: z.int().describe('All that match') }),
  }),
});
