/** Loads what a turn needs to know of its run, all in one statement, and what was said before in the conversation. */
import { sql, type SQL } from 'drizzle-orm';
import type { RunFailure } from '../../../platform/core/problem.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { ResolvedModel } from '../../../platform/models/types.ts';
import { MODEL_INTEGRATIONS } from '../../../platform/models/catalogue.ts';
import type { RequestedToolCall, RunStatus, StepOfRun } from '../model.ts';
import { OPEN_RUN, TERMINAL_RUN } from './statuses.ts';
import { hasRouterKey } from '../../billing/model-router/store.ts';
import { hasCredentials } from '../../integrations/store.ts';
import { hasEntries } from '../../memory/store/entries.ts';

interface TurnMessage {
  turn: number;
  role: 'system' | 'user' | 'assistant';
  content: unknown;
}

export interface RecordedToolCall extends RequestedToolCall {
  turn: number;
  position: number;
  arguments: unknown;
  status: 'pending' | 'succeeded' | 'failed';
  result: unknown;
}

export interface RunInTurn {
  id: string;
  customerId: string;
  parentRunId: string | null;
  depth: number;
  agent: string | null;
  transport: string;
  prompt: string;
  conversation: string | null;
  override: Record<string, unknown> | null;
  status: RunStatus;
  error: string | null;
  errorCode: RunFailure | null;
  model: string | null;
  modelProvider: ResolvedModel['provider'] | null;
  contextWindow: number | null;
  modelTier: ResolvedModel['tier'] | null;
  modelRule: string;
  modelEnforce: boolean;
  reasoning: boolean | null;
  turnCount: number;
  inputTokens: number;
  outputTokens: number;
  budgetIds: string[];
  /** The caps of the workspace that are set, by the ids of their budgets. */
  caps: string[];
  /** One of the run's budgets has a limit, so the cost of a call is held before it is made. */
  isLimited: boolean;
  attemptId: string | null;
  step: StepOfRun | null;
  /** The answer is to be JSON of this schema. */
  outputSchema: Record<string, unknown> | null;
  /** The number of the scheduled job that asked for the run. */
  jobN: number | null;
  /** The run belongs to a chat thread that has files beside it. */
  threadHasFiles: boolean;
  /** The id of an earlier run of the conversation that is still in flight. */
  blockedBy: string | null;
  /** The workspace keeps memories or skills; this is asked before the run begins. */
  hasEntries: boolean;
  /** The run that spawned this one was cancelled. */
  isOrphaned: boolean;
  /** The workspace gave a credential for models to its integrations, or has the model router. */
  hasModelCredentials: boolean;
  /** Somebody watches what the run writes. */
  isWatched: boolean;
  messages: TurnMessage[];
  toolCalls: Omit<RecordedToolCall, 'dispatch'>[];
}

const MODELS = sql.param(MODEL_INTEGRATIONS);

/** Loads everything that a turn needs to know of its run, in one statement. */
export async function loadRunInTurn(db: Database, runId: string): Promise<RunInTurn | undefined> {
  const [row] = await db.rows<RunInTurn>(runInTurn(runId));
  return row;
}

/**
 * Asks for the same; its row is a `RunInTurn`.
 * @param more columns of the run `r`, which begin with a comma
 */
export const runInTurn = (runId: string, more = sql``): SQL => sql`
    select r.id, r.customer_id as "customerId", r.parent_run_id as "parentRunId", r.depth, r.agent, r.transport, r.prompt,
      r.conversation, r.override, r.status, r.error, r.error_code as "errorCode", r.model, r.model_provider as "modelProvider",
      r.context_window as "contextWindow", nullif(r.model_tier, 'unknown') as "modelTier", r.model_rule as "modelRule",
      r.model_enforce as "modelEnforce", r.reasoning, r.turn_count as "turnCount",
      r.input_tokens::float8 as "inputTokens", r.output_tokens::float8 as "outputTokens", r.budget_ids as "budgetIds",
      r.attempt_id as "attemptId", r.step, r.output_schema as "outputSchema", r.job_n as "jobN",
      r.thread_id is not null and exists (
        select 1 from attachments f
        where f.customer_id = r.customer_id and f.owner_kind = 'chat_thread' and f.owner_id = r.thread_id
      ) as "threadHasFiles",
      r.budget_ids <> '{}' and exists (
        select 1 from budgets b where b.id = any(r.budget_ids) and b.limit_usd is not null) as "isLimited",
      (select coalesce(jsonb_agg(b.id order by b.id), '[]') from budgets b
        where b.customer_id = r.customer_id and b.period is not null and b.limit_usd is not null) as caps,
      case when r.conversation is not null then (
        select e.id from runs e
        where e.customer_id = r.customer_id and e.conversation = r.conversation and e.seq < r.seq
          and e.status in ${OPEN_RUN}
        order by e.seq limit 1) end as "blockedBy",
      r.status = 'queued' and ${hasEntries(sql`r.customer_id`)} as "hasEntries",
      exists (select 1 from runs p where p.id = r.parent_run_id and p.status = 'cancelled') as "isOrphaned",
      ${hasCredentials(sql`r.customer_id`, sql`any(${MODELS}::text[])`)}
      or ${hasRouterKey(sql`r.customer_id`)} as "hasModelCredentials",
      exists (select 1 from text_watches w where w.customer_id = r.customer_id and w.until > now()
        and w.watched in ('*', 'run:' || r.id, 'project:' || (r.step ->> 'projectId'))) as "isWatched",
      (select coalesce(jsonb_agg(jsonb_build_object('turn', turn, 'role', role, 'content', content) order by turn, role), '[]')
        from run_messages where run_id = r.id) as messages,
      (select coalesce(jsonb_agg(jsonb_build_object('callId', call_id, 'turn', turn, 'position', position, 'tool', tool,
          'arguments', arguments, 'effect', effect, 'status', status, 'result', result) order by turn, position), '[]')
        from run_tool_calls where run_id = r.id) as "toolCalls"${more}
    from runs r where r.id = ${runId}`;

/** A longer prompt is taken to be the reason that its run did not fit into the context window. */
const OVERLONG_PROMPT = 10_000;

/**
 * Returns what earlier runs of a conversation said, the oldest first. A run that failed or was cancelled has no output, and
 * its user has spoken all the same. Words that a provider refused, or that do not fit, would fail every later run as well.
 */
export async function loadEarlierExchanges(db: Database, runId: string, count: number) {
  return db.rows<{ prompt: string; output: string | null }>(sql`
    select prompt, output from (
      select e.seq, e.prompt, case when e.status = 'succeeded' then e.output end as output from runs e, runs r
      where r.id = ${runId} and e.customer_id = r.customer_id and e.conversation = r.conversation and e.seq < r.seq
        and e.status in ${TERMINAL_RUN} and e.error_code is distinct from 'model_refused'
        and not (e.error_code is not distinct from 'model_context_overflow' and length(e.prompt) > ${OVERLONG_PROMPT})
      order by e.seq desc limit ${count}) latest
    order by seq`);
}
