/** The HTTP contract of runs. Validation, OpenAPI and handler types derive from these values. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import {
  documentAs,
  Effort,
  givenUsd,
  limit,
  notBlank,
  offset,
  pageReply,
  SavedUsd,
  Timestamp,
  Usd,
} from '../../platform/http/schemas.ts';
import { CONTEXT_CATEGORIES, COST_WINDOWS, RUN_EVENT_TYPES, RUN_STATUSES, TRANSPORTS } from './model.ts';
import { WaitsFor } from './waits/contract.ts';

export const RunId = z.string().min(1).max(64);
export const RunPath = z.object({ run_id: RunId });
/** A model is asked to read this: the limit is far below that of a body, and far above what a person types. */
const Prompt = notBlank(z.string().max(500_000));
const Handle = z.string().min(1).max(200);
export const IsPriced = z.boolean().describe('False: the price of a call was not known, and the cost is a lower bound');
/** The mark of honesty of whatever comes from a recorded sample. */
export const IsSample = z.boolean().describe('Recorded sample content: no model was called');

const Override = z.object({
  /** The id of a model, or `auto`. */
  model_override: z.string().max(200).regex(/^\S+$/, 'must be a model id without spaces').optional(),
  /** The run may spend this many US dollars at most. */
  cost_budget_usd: givenUsd(z.number().positive()).optional(),
  /** Whether a model that can reason does. */
  reasoning: z.boolean().optional(),
  effort: Effort.optional(),
});

export const OutputSchema = z
  .record(z.string(), z.unknown())
  .describe(
    'JSON Schema: the answer is one JSON value of it. One that is not is sent back with the faults, twice at most; then the run fails with `output_invalid`',
  );
const Message = Prompt.describe('Alternative to prompt');
const Dispatch = z.object({
  agent: z.string().min(1).max(64).nullish().describe('Agent slug; omit to let the classifier pick'),
  transport: z.enum(TRANSPORTS).default('rest'),
  prompt: Prompt.nullish(),
  message: Message.nullish(),
  thread_id: Handle.nullish().describe('Runs of one thread are one conversation, one after another'),
  channel_id: Handle.nullish(),
  override: Override.nullish(),
  output_schema: OutputSchema.nullish(),
  customer_id: z.string().max(200).nullish().describe('Accepted and ignored'),
});
// A union in its place would tell one mistake as one of each of its forms.
export const RunRequest = documentAs(
  Dispatch.refine((body) => (body.prompt == null) !== (body.message == null), {
    path: ['prompt'],
    message: 'exactly one of prompt or message is required',
  }),
  z
    .xor([
      Dispatch.extend({ prompt: Prompt, message: z.null().optional() }).strict().meta({ id: 'RunRequestWithPrompt' }),
      Dispatch.extend({ message: Message, prompt: z.null().optional() }).strict().meta({ id: 'RunRequestWithMessage' }),
    ])
    .meta({ id: 'RunRequest' }),
);
export type RunRequest = z.output<typeof RunRequest>;

const RunAccepted = z.object({ run_id: RunId, status: z.literal('queued') }).meta({ id: 'RunAccepted' });

export const RunListRow = z
  .object({
    run_id: RunId,
    parent_run_id: z.string().nullable(),
    agent: z.string().nullable(),
    transport: z.string(),
    started_at: Timestamp,
    last_event_at: Timestamp,
    last_event_type: z.enum(RUN_EVENT_TYPES),
    last_status: z.string().nullable(),
    event_count: z.int(),
    total_cost_usd: Usd,
    is_priced: IsPriced,
    model: z.string().nullable(),
    reasoning: z.boolean().nullable(),
    model_tier: z.string(),
    model_rule: z.string(),
    model_enforce: z.boolean(),
    sample: IsSample,
  })
  .meta({ id: 'RunListRow' });

export const RunEvent = z
  .object({
    id: z.int(),
    ts: Timestamp,
    event_type: z.enum(RUN_EVENT_TYPES),
    agent: z.string().nullable(),
    transport: z.string().nullable(),
    duration_ms: z.int().nullable(),
    cost_usd: Usd.nullable(),
    status: z.string().nullable(),
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'RunEvent' });

const RunDetail = z
  .object({
    run_id: RunId,
    customer_id: z.string(),
    transport: z.string(),
    agent: z.string().nullable(),
    parent_run_id: z.string().nullable(),
    status: z.enum(RUN_STATUSES),
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    output: z.string().nullable(),
    error: z.string().nullable(),
    waits_for: WaitsFor,
    sample: IsSample,
  })
  .meta({ id: 'RunDetail' });

const PublicRun = z
  .object({
    run_id: RunId,
    agent: z.string().nullable(),
    status: z.enum(RUN_STATUSES),
    output: z.string().nullable(),
    error: z.string().nullable(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    waits_for: WaitsFor,
    sample: IsSample,
  })
  .meta({ id: 'Run' });

const CREATE_PROBLEMS = ['plan_limit_exceeded', 'not_found', 'runtime_unreachable'] as const;

export const dispatchRun = endpoint({
  id: 'runs.dispatch',
  surface: 'public',
  path: '/v1/runs',
  audited: false,
  idempotent: true,
  summary: 'Dispatch an agent run',
  description:
    'Answers as soon as the run is recorded; the agent works out of band. Retrying the call makes a second run.',
  body: RunRequest,
  status: 201,
  reply: RunAccepted,
  problems: CREATE_PROBLEMS,
});

export const getRun = endpoint({
  id: 'runs.get',
  surface: 'public',
  path: '/v1/runs/{run_id}',
  summary: 'Status and output of a run',
  params: RunPath,
  reply: PublicRun,
  problems: ['not_found'],
});

export const createRun = endpoint({
  id: 'runs.create',
  path: '/v1/runs',
  audited: false,
  idempotent: true,
  summary: 'Dispatch an agent run',
  body: RunRequest,
  status: 201,
  reply: RunAccepted,
  problems: CREATE_PROBLEMS,
});

export const listRuns = endpoint({
  id: 'runs.list',
  path: '/v1/runs',
  summary: 'List runs, newest first',
  query: z.object({
    agent: z.string().max(64).optional(),
    transport: z.string().max(32).optional(),
    since_hours: z.coerce.number().int().min(1).max(720).optional(),
    limit: limit(500, 50),
    offset,
  }),
  reply: pageReply(RunListRow),
});

export const listRunEvents = endpoint({
  id: 'runs.events',
  path: '/v1/runs/{run_id}/events',
  summary: 'Timeline of a run, oldest first',
  params: RunPath,
  query: z.object({ limit: limit(2_000, 200) }),
  reply: z.object({ data: z.array(RunEvent), meta: z.object({ limit: z.int(), run_id: RunId }) }),
  problems: ['not_found'],
});

export const getRunDetail = endpoint({
  id: 'runs.detail',
  path: '/v1/runs/{run_id}/detail',
  summary: 'Status, output and error of a run; 404 once it has aged out',
  params: RunPath,
  reply: RunDetail,
  problems: ['not_found'],
});

export const cancelRun = endpoint({
  id: 'runs.cancel',
  method: 'post',
  path: '/v1/runs/{run_id}/cancel',
  audited: false,
  summary: 'Stop an in-flight run',
  params: RunPath,
  reply: z.object({ run_id: RunId, status: z.enum(RUN_STATUSES) }),
  problems: ['not_found', 'run_not_in_flight', 'runtime_unreachable'],
});

export const retryRun = endpoint({
  id: 'runs.retry',
  method: 'post',
  path: '/v1/runs/{run_id}/retry',
  audited: false,
  summary: "A new run from the original's prompt, agent and transport",
  params: RunPath,
  status: 201,
  reply: RunAccepted,
  problems: CREATE_PROBLEMS,
});

export const getRunStats = endpoint({
  id: 'runs.stats',
  path: '/v1/runs/stats/today',
  summary: 'Counts and cost of the last 24 hours',
  reply: z.object({ runs: z.int(), completed: z.int(), failed: z.int(), in_flight: z.int(), cost_usd: Usd }),
});

const Cost = z.object({ cost_usd: Usd, saved_usd: SavedUsd, run_count: z.int() });
const CostByModel = Cost.extend({ model: z.string().nullable() });
const CostByTier = Cost.extend({ tier: z.string(), models: z.array(CostByModel) });

export const getRunCosts = endpoint({
  id: 'runs.costs',
  path: '/v1/runs/costs',
  summary: 'Cost of a window by agent, tier and model',
  query: z.object({ window: z.enum(Object.keys(COST_WINDOWS) as (keyof typeof COST_WINDOWS)[]).default('7d') }),
  reply: z.object({
    data: z.array(
      z.object({
        agent: z.string().nullable(),
        total_cost_usd: Usd,
        saved_usd: SavedUsd,
        run_count: z.int(),
        tiers: z.array(CostByTier),
      }),
    ),
    meta: z.object({
      window: z.string(),
      window_hours: z.int(),
      since: Timestamp,
      total_cost_usd: Usd,
      saved_usd: SavedUsd,
      run_count: z.int(),
      agent_count: z.int(),
    }),
  }),
});

const RunContext = z.object({
  run_id: RunId,
  model: z.string().nullable(),
  context_window: z.int().nullable(),
  total_tokens: z.int(),
  categories: z.array(z.object({ category: z.enum(CONTEXT_CATEGORIES), tokens: z.int(), bytes: z.int() })),
});
export type RunContext = z.input<typeof RunContext>;

const RunContextPage = z.object({
  content: z.string(),
  before_byte: z.int(),
  next_before_byte: z.int().nullable(),
  total_bytes: z.int(),
});
export type RunContextPage = z.input<typeof RunContextPage>;

export const getRunContext = endpoint({
  id: 'runs.context',
  path: '/v1/runs/{run_id}/context',
  summary: 'What fills the context window of a run',
  params: RunPath,
  reply: RunContext,
  problems: ['not_found'],
});

export const getRunContextContent = endpoint({
  id: 'runs.contextContent',
  path: '/v1/runs/{run_id}/context/content',
  summary: 'One page of the raw context, paging backwards from its end',
  params: RunPath,
  query: z.object({ before_byte: z.coerce.number().int().min(0).optional() }),
  reply: RunContextPage,
  problems: ['not_found'],
});
