/** What is asked of the service about conversations. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import type { ChatListMessagesResponse, ChatListThreadsResponse, ChatThread } from '../../api/types.ts';

/** So many threads, the one last used first. */
const THREADS = 200;
const MESSAGES = 50;

export const threadsKey = ['chat', 'threads'] as const;
export const threadKey = (id: string) => ['chat', 'one', id] as const;

export const threadsQuery = queryOptions({
  queryKey: threadsKey,
  queryFn: ({ signal }) => get<ChatListThreadsResponse>('/v1/chat/threads', { limit: THREADS }, signal),
});

export const threadQuery = (id: string) =>
  queryOptions({
    queryKey: [...threadKey(id), 'thread'],
    queryFn: ({ signal }) => get<ChatThread>(`/v1/chat/threads/${id}`, undefined, signal),
  });

/** The latest messages first, a page of older ones after another. */
export const messagesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: [...threadKey(id), 'messages'],
    queryFn: ({ signal, pageParam: offset }) =>
      get<ChatListMessagesResponse>(
        `/v1/chat/threads/${id}/messages`,
        { order: 'desc', limit: MESSAGES, offset },
        signal,
      ),
    initialPageParam: 0,
    getNextPageParam: ({ data }, pages) => (data.length < MESSAGES ? undefined : pages.length * MESSAGES),
  });
