/** Reads the feed of events for callers. */
import type { Caller } from '../../platform/http/endpoint.ts';
import type { FeedQuery } from './contract.ts';
import type { EventStore } from './store.ts';

export type EventService = ReturnType<typeof createEventService>;

export const createEventService = ({ store }: { store: EventStore }) => ({
  async list({ customerId }: Caller, query: FeedQuery) {
    const { rows, total } = await store.listFeed(customerId, query);
    return { data: rows, meta: { limit: query.limit, since_hours: query.since_hours, total } };
  },
});
