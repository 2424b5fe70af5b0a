/**
 * The typed client of the Agent Orchestration Service. The single endpoints are in `agent-orchestration-client/api`.
 */
export { createClient, type Client } from './client.ts';
export type { ClientOptions } from './connection.ts';
export * from './errors.ts';
export type * from './inbox.ts';
export type { EventKind, LiveFilter, LiveItem, TextPiece, UnknownItem } from './live.ts';
export type * from './projects.ts';
export type * from './runs.ts';
export { readServerSentEvents, type ServerSentEvent, type StreamSignals } from './sse.ts';
export type { ProjectState, RunState } from './states.ts';
export { NoStreamError, type FollowOptions } from './stream.ts';
export { sumUsd } from './usd.ts';
export type { EventOptions, WaitOptions } from './waiting.ts';
export * from './webhooks.ts';
