/**
 * Queries on irreversible calls of which nobody knows whether they took effect, where the agent has a person asked. That the
 * call is lost opens its wait, and its result closes it, in the same statement: triggers on `run_tool_calls` see to it.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { Claim } from '../../../platform/http/once-only.ts';
import { ClaimLostError, holdingClaim } from '../../idempotency-keys/store.ts';
import { lostEffectOf, OUTCOME_UNKNOWN, resultOfLostEffect, type LostEffectAnswer } from '../model.ts';
import { countEvents, insertEvents, type NewEvent } from './events.ts';
import { refuseToolCall, resultEvent, type ToolResult } from './tool-calls.ts';

type LostCall = Pick<ToolResult, 'runId' | 'callId' | 'tool'>;

/**
 * Of a run of its own, whose agent wants to know, a person is asked. In a project its step is what a person decides on,
 * and any other model is told that nobody knows.
 * @returns whether a person is asked
 */
export async function askOrRefuse(db: Database, call: LostCall): Promise<boolean> {
  const { runId, callId, tool } = call;
  const event: NewEvent = {
    key: `tool:${callId}:lost`,
    type: 'tool_call',
    status: 'waiting',
    payload: { call_id: callId, tool, outcome: 'unknown' },
  };
  // Calls come before their run and waits after it, as in every statement that locks several of them.
  const lost = await db.rows(sql`
    with lost as (
      update run_tool_calls c set lost_at = now() from runs r
      where c.run_id = ${runId} and c.call_id = ${callId} and c.status = 'pending' and c.lost_at is null
        and r.id = c.run_id and r.status = 'running' and r.attempt_id is null and exists (
          select from agents a where a.customer_id = r.customer_id and a.slug = r.agent and a.on_lost_effect = 'ask')
      returning c.run_id
    ), told as (
      update runs set ${countEvents([event])}
      where id in (select run_id from lost) and status = 'running' returning id, customer_id
    ), noted as (${insertEvents(sql`told`, [event])})
    select 1 from lost`);
  if (lost.length > 0 || (await isAskedAlready(db, call))) return true;
  await refuseToolCall(db, call, OUTCOME_UNKNOWN);
  return false;
}

/** A statement of its own: that which asks does not see what it waited for. */
async function isAskedAlready(db: Database, { runId, callId }: LostCall): Promise<boolean> {
  const rows = await db.rows(sql`
    select from run_tool_calls
    where run_id = ${runId} and call_id = ${callId} and status = 'pending' and lost_at is not null`);
  return rows.length > 0;
}

/** Tells whether the run need not wait for the answer any longer. */
export async function isToolCallOver(db: Database, runId: string, callId: string): Promise<boolean> {
  const rows = await db.rows(sql`
    select from run_tool_calls where run_id = ${runId} and call_id = ${callId} and status = 'pending'`);
  return rows.length === 0;
}

export interface LostEffectSettling extends LostCall {
  customerId: string;
  answer: LostEffectAnswer;
  comment: string | null;
  by: string;
  /** The wait as it was seen, and the way by which the answer came. */
  seen: { waitId: string; revision: number; via: string };
}

/**
 * Gives the call its result, and settles its wait, in one statement.
 * @param claim of a request with a key: it notes the call, in the same transaction
 * @returns false where the wait is not what was seen any more, and nothing was written
 * @throws ClaimLostError
 */
export function settleLostEffect(db: Database, settling: LostEffectSettling, claim?: Claim): Promise<boolean> {
  const { runId, callId } = settling;
  return db.transaction(async () => {
    const isSettled = await settle(db, settling);
    if (isSettled && claim && (await db.rows(holdingClaim(claim, lostEffectOf(runId, callId)))).length === 0) {
      throw new ClaimLostError();
    }
    return isSettled;
  });
}

async function settle(
  db: Database,
  { customerId, callId, tool, answer, comment, by, seen }: LostEffectSettling,
): Promise<boolean> {
  const status = answer === 'done' ? 'succeeded' : 'failed';
  const { text, event } = resultEvent({
    callId,
    tool,
    status,
    result: resultOfLostEffect(answer, by, comment),
    durationMs: 0,
  });
  const settled = await db.rows(sql`
    with result as (
      update run_tool_calls c set status = ${status}::tool_call_status, result = ${text}::jsonb, completed_at = now()
      from waits w join runs r on r.id = w.run_id and r.customer_id = w.customer_id
      where w.id = ${seen.waitId}::uuid and w.customer_id = ${customerId} and w.revision = ${seen.revision}
        and w.settled_at is null and w.kind = 'lost_effect' and r.status = 'running'
        and c.run_id = w.run_id and c.call_id = w.call_id and c.customer_id = ${customerId} and c.status = 'pending'
      returning c.run_id
    ), told as (
      update runs set ${countEvents([event])}
      where id in (select run_id from result) and customer_id = ${customerId} and status = 'running'
      returning id, customer_id
    ), noted as (${insertEvents(sql`told`, [event])})
    update waits w set settled_at = now(), answer = ${answer}, settled_by = ${by},
      settled_via = ${seen.via}::way_of_answer, comment = ${comment}
    from told where w.id = ${seen.waitId}::uuid and w.customer_id = ${customerId} and w.settled_at is null
    returning w.id`);
  return settled.length > 0;
}
