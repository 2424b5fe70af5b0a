/** The HTTP contract of the events feed: what happened in all projects of a workspace. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { limit } from '../../platform/http/schemas.ts';
import { EVENT_CATEGORIES, EVENT_LEVELS } from '../projects/feed/model.ts';
import { ProjectEvent } from '../projects/reads/contract.ts';

const FeedQuery = z.object({
  limit: limit(2_000, 500),
  since_hours: z.coerce.number().int().min(0).max(720).default(24).describe('0: no bound'),
  category: z.enum(EVENT_CATEGORIES).optional(),
  level: z.enum(EVENT_LEVELS).optional(),
});
export type FeedQuery = z.output<typeof FeedQuery>;

export const listProjectEvents = endpoint({
  id: 'events.list',
  path: '/v1/events',
  summary: 'Events of all projects, newest first',
  query: FeedQuery,
  reply: z.object({
    data: z.array(ProjectEvent),
    meta: z.object({ limit: z.int(), since_hours: z.int(), total: z.int().describe('All that match') }),
  }),
});
