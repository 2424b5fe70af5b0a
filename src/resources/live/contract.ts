/** The HTTP contract of following a workspace while things happen in it. */
import { z } from 'zod';
import { endpoint, streamOf } from '../../platform/http/endpoint.ts';
import { STREAM_ENDS } from '../../platform/http/stream.ts';
import { Timestamp } from '../../platform/http/schemas.ts';
import { EVENT_KINDS, type LoggedKind } from '../event-log/model.ts';
import { ProjectEvent } from '../projects/reads/contract.ts';
import { RunEvent } from '../runs/contract.ts';

const Cursor = z
  .string()
  .min(1)
  .max(64)
  .describe(
    'Place in the order of the workspace; opaque. The same in streams and in `X-Service-Event-Cursor` of webhooks',
  );

const inLog = {
  cursor: Cursor,
  ts: Timestamp,
  topic: z.string().describe('What happened, in a word of its kind'),
  run_id: z.string().nullable(),
  project_id: z.string().nullable().describe('Of a run: the project whose step it works for; null for any other run'),
};

const LOGGED_KINDS = EVENT_KINDS.filter((kind): kind is LoggedKind => kind !== 'run' && kind !== 'project');

/** An event of the log. It is the `data` of a stream's event, whose name is the kind. */
export const LiveEvent = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('run'), ...inLog, event: RunEvent }).meta({ id: 'LiveRunEvent' }),
    z.object({ kind: z.literal('project'), ...inLog, event: ProjectEvent }).meta({ id: 'LiveProjectEvent' }),
    z
      .object({
        kind: z.enum(LOGGED_KINDS),
        ...inLog,
        event: z.object({
          id: z.string().describe('Of what it happened to: the wait, the delivery, the job, the run'),
          ts: Timestamp,
          topic: z.string(),
          payload: z.record(z.string(), z.unknown()),
        }),
      })
      .meta({ id: 'LiveOtherEvent' }),
  ])
  .meta({ id: 'LiveEvent' });

/** What stands between events of the log. The name of the stream's event says which of these it is. */
export const LiveControl = z.union([
  z.object({ cursor: Cursor }).meta({ id: 'LiveOpen' }),
  z
    .object({
      run_id: z.string(),
      project_id: z.string().nullable(),
      turn: z.int(),
      attempt: z.int(),
      offset: z.int().describe('Where it goes on, in UTF-16 units; 0: it begins, or begins anew'),
      text: z.string(),
    })
    .meta({ id: 'LiveText' }),
  z.object({ after: Cursor, kept_from: Cursor }).meta({ id: 'LiveGap' }),
  z.object({ reason: z.enum(STREAM_ENDS) }).meta({ id: 'LiveEnd' }),
]);

const Kinds = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(EVENT_KINDS)).min(1))
  .describe(`Only events of these kinds, separated by commas: ${EVENT_KINDS.join(', ')}`);

/** Chooses whether texts come; `LiveQuery` and the streams of documented endpoints have it. */
export const TextChoice = z
  .enum(['true', 'false'])
  .transform((flag) => flag === 'true')
  .optional();

const LiveQuery = z.object({
  after: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Begins after this cursor; `0`: with the oldest event that is kept. Without it the stream begins now. ' +
        'The header `Last-Event-ID`, which browsers send when they connect again, goes before it',
    ),
  run_id: z.string().min(1).max(64).optional().describe('Only what belongs to this run'),
  project_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Only what belongs to this project, its steps' runs included"),
  kind: Kinds.optional(),
  text: TextChoice.describe(
    'Whether texts are told while models write them. Without it: where one run or project is followed',
  ),
});
export type LiveQuery = z.output<typeof LiveQuery>;

export const followWorkspace = endpoint({
  id: 'live.follow',
  path: '/v1/live',
  summary: 'Follow what happens in the workspace, as server-sent events',
  description: [
    'A stream of `text/event-stream` with every event of the workspace, in one order, each exactly once.',
    '',
    `- \`event: <kind>\` (${EVENT_KINDS.map((kind) => `\`${kind}\``).join(', ')}) with \`id: <cursor>\` and`,
    '  `data: {cursor, kind, ts, topic, run_id, project_id, event}`. `event` is the row as its own list has it: that of',
    '  `/v1/runs/{run_id}/events` for a run, that of `/v1/events` for a project, and `{id, ts, topic, payload}` for the others.',
    '- `start` with the topic `refused`: the run was told of (`run_received`) but could not be started, was answered 502 and is',
    '  withdrawn: nothing more comes of it, and its address answers 404.',
    '- `event: open` comes first, with the cursor from which on the stream has everything: `data: {cursor}`.',
    '- `event: text`, `data: {run_id, project_id, turn, attempt, offset, text}`: what a model is writing, a few times a second, to',
    '  be put at `offset` of what came before of the same turn and attempt. It has no `id` and is no fact: after a lost',
    '  connection it comes again from its beginning or not at all, and `output` of the run has the whole.',
    '- `event: gap`, `id: <kept_from>`, `data: {after, kept_from}`: some events between the two cursors are not kept any more; those that',
    '  are came before it. It is told once: whoever connects again after it goes on from there.',
    '- `event: end` comes last, `data: {reason}`: `ended` (of a stream of one run or project: there is nothing more), `life` (streams are served for a limited time), `shutdown`, `slow_reader` (what',
    '  waited for this reader was dropped) or `signed_out`. But for the last of them, connect again with the last `id` that was',
    '  seen: nothing is lost and nothing comes twice.',
    '- A line with a colon alone comes every 15 s and means nothing.',
    '',
    'An event is sent when no transaction that began before its own can still write one: as a rule within half a second.',
    'Clients ignore events whose name they do not know.',
  ].join('\n'),
  query: LiveQuery,
  reply: streamOf(z.union([LiveEvent, LiveControl])),
  problems: ['cursor_unknown', 'too_many_streams'],
});
