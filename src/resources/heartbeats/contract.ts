/** The HTTP contract of heartbeats: an agent that is prompted every so many seconds. */
import { z } from 'zod';
import { NO_CONTENT, endpoint } from '../../platform/http/endpoint.ts';
import { listReply, notBlank, Timestamp } from '../../platform/http/schemas.ts';
import { warned } from '../references/contract.ts';
import { MIN_INTERVAL_S } from './model.ts';

const HeartbeatPath = z.object({ id: z.string() });
const text = (max: number) => notBlank(z.string().max(max));

const Definition = z.object({
  name: text(120),
  agent_slug: text(64),
  prompt: text(100_000),
  interval_s: z
    .int()
    .min(MIN_INTERVAL_S)
    .max(366 * 24 * 3_600)
    .describe('Seconds from one to the next'),
  enabled: z.boolean(),
});
export const NewHeartbeat = Definition.extend({ enabled: z.boolean().default(true) }).meta({ id: 'NewHeartbeat' });
export type NewHeartbeat = z.output<typeof NewHeartbeat>;
const HeartbeatChange = Definition.partial().meta({ id: 'HeartbeatChange' });
export type HeartbeatChange = z.output<typeof HeartbeatChange>;

const Heartbeat = Definition.extend({
  id: z.uuid(),
  next_run_at: Timestamp.nullable(),
  created_at: Timestamp,
}).meta({ id: 'Heartbeat' });
const SavedHeartbeat = Heartbeat.extend(warned).meta({ id: 'SavedHeartbeat' });

export const listHeartbeats = endpoint({
  id: 'heartbeats.list',
  path: '/v1/heartbeats',
  summary: 'Heartbeats, oldest first',
  reply: listReply(Heartbeat),
});

export const createHeartbeat = endpoint({
  id: 'heartbeats.create',
  path: '/v1/heartbeats',
  summary: 'Prompt an agent every so many seconds',
  body: NewHeartbeat,
  status: 201,
  reply: SavedHeartbeat,
  problems: ['plan_limit_exceeded', 'runtime_unreachable'],
});

export const getHeartbeat = endpoint({
  id: 'heartbeats.get',
  path: '/v1/heartbeats/{id}',
  summary: 'One heartbeat',
  params: HeartbeatPath,
  reply: Heartbeat,
  problems: ['not_found'],
});

export const updateHeartbeat = endpoint({
  id: 'heartbeats.update',
  method: 'patch',
  path: '/v1/heartbeats/{id}',
  summary: 'Change, enable or disable a heartbeat',
  params: HeartbeatPath,
  body: HeartbeatChange.default({}),
  reply: SavedHeartbeat,
  problems: ['bad_request', 'not_found', 'runtime_unreachable'],
});

export const deleteHeartbeat = endpoint({
  id: 'heartbeats.delete',
  method: 'delete',
  path: '/v1/heartbeats/{id}',
  summary: 'Delete a heartbeat; its runs stay',
  params: HeartbeatPath,
  reply: NO_CONTENT,
  problems: ['not_found', 'runtime_unreachable'],
});
