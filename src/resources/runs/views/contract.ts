/** The HTTP contract of what the console shows of runs: finding them, and one of them whole, a page after another. */
import { z } from 'zod';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { limit, SavedUsd, Timestamp, Usd, UsdText } from '../../../platform/http/schemas.ts';
import { IsPriced, IsSample, RunEvent, RunId, RunPath } from '../contract.ts';
import { RUN_STATUSES, TOOL_CALL_STATUSES, type RunStatus } from '../model.ts';
import { WaitsFor } from '../waits/contract.ts';

const Instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

const RunFilters = z.object({
  q: z.string().trim().max(200).optional().describe('An id, or a text that the prompt contains'),
  status: z.enum(RUN_STATUSES).optional(),
  agent: z.string().max(64).optional(),
  transport: z.string().max(32).optional(),
  since_hours: z.coerce.number().int().min(1).max(720).optional(),
  from: Instant.optional().describe('Accepted at this time or later'),
  to: Instant.optional().describe('Accepted before this time'),
  min_cost_usd: UsdText.optional(),
});
export type RunFilters = z.output<typeof RunFilters>;

const FoundRun = z
  .object({
    run_id: RunId,
    parent_run_id: z.string().nullable(),
    project_id: z.string().nullable().describe('Where it works for a step of one'),
    agent: z.string().nullable(),
    transport: z.string(),
    status: z.enum(RUN_STATUSES),
    prompt: z.string().describe('Its beginning, at most 200 characters'),
    error: z.string().nullable().describe('Its beginning, at most 200 characters'),
    model: z.string().nullable(),
    sample: IsSample,
    cost_usd: Usd,
    is_priced: IsPriced,
    event_count: z.int(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'FoundRun' });

export const searchRuns = endpoint({
  id: 'runs.search',
  path: '/v1/runs/search',
  summary: 'Find runs, newest first, a page after another',
  description:
    'A page looks at 1,000 runs at most. Where it has found fewer than the limit among them, `next` goes on with the ' +
    'older ones; it is null when there are none.',
  query: RunFilters.extend({
    before: RunId.optional().describe('`next` of the page before: only runs that are older than this one'),
    limit: limit(200, 50),
  }),
  reply: z.object({ data: z.array(FoundRun), meta: z.object({ limit: z.int(), next: RunId.nullable() }) }),
});

export const countRuns = endpoint({
  id: 'runs.counts',
  path: '/v1/runs/counts',
  summary: 'How many runs there are of each status',
  query: RunFilters.pick({ agent: true }),
  reply: z.object(Object.fromEntries(RUN_STATUSES.map((status) => [status, z.int()])) as Record<RunStatus, z.ZodInt>),
});

const Failure = z
  .object({
    reason: z
      .string()
      .describe('What the errors have in common: numbers, ids, addresses and quoted texts are left out'),
    example: z.string().describe('The beginning of the newest of these errors'),
    count: z.int(),
    agents: z.array(z.string()),
    cost_usd: Usd,
    latest_at: Timestamp,
    run_ids: z.array(RunId).describe('The newest 100'),
  })
  .meta({ id: 'Failure' });

export const summarizeFailures = endpoint({
  id: 'runs.failures',
  path: '/v1/runs/failures',
  summary: 'Why runs failed, the most frequent reason first',
  description: 'Of the newest 1,000 failed runs of the window.',
  query: z.object({
    since_hours: z.coerce.number().int().min(1).max(720).default(24),
    agent: z.string().max(64).optional(),
  }),
  reply: z.object({
    data: z.array(Failure),
    meta: z.object({ since_hours: z.int(), looked_at: z.int().describe('Failed runs') }),
  }),
});

const ShownRun = FoundRun.extend({
  prompt: z.string().describe('Whole'),
  output: z.string().nullable(),
  error: z.string().nullable(),
  thread_id: z.string().nullable(),
  model_rule: z.string().describe('Why this model'),
  context_window: z.int().nullable().describe('Tokens'),
  input_tokens: z.int(),
  output_tokens: z.int(),
  turn_count: z.int(),
  saved_usd: SavedUsd,
  waits_for: WaitsFor,
  budget: z
    .object({ limit_usd: Usd.nullable(), spent_usd: Usd, reserved_usd: Usd })
    .nullable()
    .describe('Of the run itself; null where it has none of its own'),
  children: z.array(
    z.object({ run_id: RunId, agent: z.string().nullable(), status: z.enum(RUN_STATUSES), cost_usd: Usd }),
  ),
  can_retry: z.boolean().describe('False once its detail has aged out'),
}).meta({ id: 'ShownRun' });

export const showRun = endpoint({
  id: 'runs.show',
  path: '/v1/runs/{run_id}/summary',
  summary: 'One run with what it was asked, what it answered, and what it spent',
  description: 'For as long as the run is kept, also past the time after which `detail` no longer answers.',
  params: RunPath,
  reply: ShownRun,
  problems: ['not_found'],
});

const EventId = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

export const getRunTimeline = endpoint({
  id: 'runs.timeline',
  path: '/v1/runs/{run_id}/timeline',
  summary: 'Timeline of a run in the order in which it was written, a page after another',
  params: RunPath,
  query: z.object({
    after: EventId.default(0).describe('`next` of the page before'),
    limit: limit(2_000, 1_000),
  }),
  reply: z.object({
    data: z.array(RunEvent.omit({ agent: true, transport: true })),
    meta: z.object({
      limit: z.int(),
      next: z.int().nullable().describe('Null: there were no more, when it was asked'),
      last: z.int().describe('What a later call asks for the events after'),
    }),
  }),
  problems: ['not_found'],
});

const Spoken = z
  .object({
    turn: z.int().describe('0: what the run began with'),
    role: z.enum(['system', 'user', 'assistant']),
    content: z.unknown().describe('Text, or the parts of a message'),
    calls: z.array(
      z.object({
        call_id: z.string(),
        tool: z.string(),
        status: z.enum(TOOL_CALL_STATUSES),
        arguments: z.unknown(),
        result: z.unknown().describe('What the model was told; null while it is pending'),
      }),
    ),
  })
  .meta({ id: 'Spoken' });

export const getRunTranscript = endpoint({
  id: 'runs.transcript',
  path: '/v1/runs/{run_id}/transcript',
  summary: 'What was said in a run and what its tools answered, turn by turn',
  description:
    'Values of more than 64 kB are cut to their beginning, as a text that says so; the context has all of it.',
  params: RunPath,
  query: z.object({ from_turn: z.coerce.number().int().min(0).max(1e6).default(0), limit: limit(100, 20) }),
  reply: z.object({ data: z.array(Spoken), meta: z.object({ next_turn: z.int().nullable() }) }),
  problems: ['not_found'],
});
