/** Queries on one tool call of a run: what it is asked to do, and its one recorded result. */
import { sql } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { Effect, RunStatus } from '../model.ts';
import { countEvents, insertEvents, type NewEvent } from './events.ts';

export interface ToolCallInRun {
  runId: string;
  callId: string;
  customerId: string;
  agent: string;
  depth: number;
  transport: string;
  budgetIds: string[];
  attemptId: string | null;
  runStatus: RunStatus;
  tool: string;
  arguments: unknown;
  effect: Effect;
  status: 'pending' | 'succeeded' | 'failed';
  /** A person is asked whether it took effect. */
  isLost: boolean;
  /** Milliseconds since the model asked for it. */
  ageMs: number;
}

export async function loadToolCall(db: Database, runId: string, callId: string): Promise<ToolCallInRun | undefined> {
  const [row] = await db.rows<ToolCallInRun>(sql`
    select c.run_id as "runId", c.call_id as "callId", c.customer_id as "customerId", r.agent, r.depth, r.transport,
      r.budget_ids as "budgetIds", r.attempt_id as "attemptId", r.status as "runStatus", c.tool, c.arguments, c.effect, c.status,
      c.lost_at is not null as "isLost",
      (extract(epoch from now() - c.created_at) * 1000)::float8 as "ageMs"
    from run_tool_calls c join runs r on r.id = c.run_id
    where c.run_id = ${runId} and c.call_id = ${callId}`);
  return row;
}

export interface ToolResult {
  runId: string;
  callId: string;
  tool: string;
  status: 'succeeded' | 'failed';
  /** The model is told this. */
  result: unknown;
  durationMs: number;
}

const PREVIEW_LENGTH = 500;

/**
 * Records a result, of which the first wins; a repeated call writes nothing. A result that comes after the run's end is
 * kept, not told.
 */
export async function recordToolResult(db: Database, given: ToolResult) {
  const { runId, callId, status } = given;
  const { text, event } = resultEvent(given);
  await db.rows(sql`
    with result as (
      update run_tool_calls set status = ${status}::tool_call_status, result = ${text}::jsonb, completed_at = now()
      where run_id = ${runId} and call_id = ${callId} and status = 'pending' returning run_id
    ), told as (
      update runs set ${countEvents([event])}
      where id in (select run_id from result) and status = 'running' returning id, customer_id
    ) ${insertEvents(sql`told`, [event])}`);
}

/** @returns a result as it is stored, and the row of the timeline that says so */
export function resultEvent({ callId, tool, status, result, durationMs }: Omit<ToolResult, 'runId'>) {
  const text = JSON.stringify(result) ?? 'null';
  const event: NewEvent = {
    key: `tool:${callId}:result`,
    type: 'tool_result',
    durationMs,
    status,
    payload: {
      call_id: callId,
      tool,
      result_preview: text.slice(0, PREVIEW_LENGTH).toWellFormed(),
      result_length: text.length,
    },
  };
  return { text, event };
}

/** Refuses a call that cannot be carried out, and tells the model why. */
export const refuseToolCall = (
  db: Database,
  { runId, callId, tool }: Pick<ToolResult, 'runId' | 'callId' | 'tool'>,
  error: string,
): Promise<void> => recordToolResult(db, { runId, callId, tool, status: 'failed', result: { error }, durationMs: 0 });

/** @returns the run that an earlier attempt of this call spawned */
export async function findChildRun(db: Database, runId: string, callId: string) {
  const [row] = await db.rows<{
    id: string;
    agent: string | null;
    status: RunStatus;
    output: string | null;
    error: string | null;
  }>(sql`
    select id, agent, status, output, error from runs where parent_run_id = ${runId} and parent_call_id = ${callId}`);
  return row;
}

export interface NewArtifact {
  id: string;
  customerId: string;
  runId: string;
  callId: string;
  filename: string;
  contentType: string;
  sizeBytes: number;
  sha256: string;
  fileKey: string;
}

/** Records one artifact for a tool call, however often it is repeated. @returns the id of the first */
export async function recordArtifact(db: Database, artifact: NewArtifact): Promise<string> {
  const { runId, callId } = artifact;
  const [added] = await db.rows<{ id: string }>(sql`
    insert into run_artifacts (id, customer_id, run_id, call_id, agent, filename, content_type, size_bytes, sha256, file_key)
    values (${artifact.id}, ${artifact.customerId}, ${runId}, ${callId}, (select agent from runs where id = ${runId}),
      ${artifact.filename}, ${artifact.contentType}, ${artifact.sizeBytes}, ${artifact.sha256}, ${artifact.fileKey})
    on conflict (run_id, call_id) do nothing returning id`);
  if (added) return added.id;
  return first(
    await db.rows<{ id: string }>(sql`select id from run_artifacts where run_id = ${runId} and call_id = ${callId}`),
  ).id;
}
