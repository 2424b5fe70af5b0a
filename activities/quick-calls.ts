/**
 * Makes the calls of a reply that take less time than an activity for each: their results are recorded with the reply. They
 * change nothing, so a call whose result is lost with its worker is made again.
 */
import { orAfter } from '../src/platform/temporal/problems.ts';
import type { NewEvent } from '../src/resources/runs/store/events.ts';
import type { RecordedToolCall, RunInTurn } from '../src/resources/runs/store/run-in-turn.ts';
import { resultEvent } from '../src/resources/runs/store/tool-calls.ts';
import { ToolError, type Tool } from '../src/resources/tools/model.ts';
import type { ToolRegistry } from '../src/resources/tools/registry.ts';
import { presentable, type toolContextOf } from './tools.ts';

/** A reply that is paid for does not wait longer to be recorded. */
const PATIENCE_MS = 100;

export type QuickCalls = ReturnType<typeof createQuickCalls>;

interface QuickCallDependencies {
  tools: Pick<ToolRegistry, 'get'>;
  contextOf: ReturnType<typeof toolContextOf>;
}

type Run = Pick<RunInTurn, 'id' | 'customerId' | 'agent'>;

export const createQuickCalls = ({ tools, contextOf }: QuickCallDependencies) => {
  async function outcomeOf(
    { id: runId, customerId, agent }: Run,
    { callId, tool: slug, arguments: args }: RecordedToolCall,
    signal: AbortSignal,
  ) {
    try {
      const tool = await tools.get(customerId, slug);
      if (!tool || agent === null) return undefined;
      const context = contextOf({ customerId, runId, callId, agent }, signal);
      return { status: 'succeeded' as const, result: presentable(await tool.execute(args, context)) };
    } catch (error) {
      return error instanceof ToolError ? { status: 'failed' as const, result: { error: error.message } } : undefined;
    }
  }

  async function made(run: Run, call: RecordedToolCall): Promise<Made> {
    const startedAt = performance.now();
    const patience = new AbortController();
    const outcome = await orAfter(PATIENCE_MS, outcomeOf(run, call, patience.signal), () => {
      patience.abort();
      return undefined;
    });
    if (!outcome) return { call };
    const durationMs = Math.round(performance.now() - startedAt);
    const { event } = resultEvent({ ...outcome, callId: call.callId, tool: call.tool, durationMs });
    return { call: { ...call, ...outcome }, event };
  }

  /** @returns all calls, those that could be made with their results, and the events of these; an activity makes the others */
  return async (run: Run, calls: readonly RecordedToolCall[], offered: readonly Tool[]) => {
    const quick = new Set(offered.flatMap(({ slug, isQuick }) => (isQuick ? slug : [])));
    const isMade = ({ tool, status }: RecordedToolCall) => status === 'pending' && quick.has(tool);
    const all = await Promise.all(
      calls.map(async (call): Promise<Made> => (isMade(call) ? made(run, call) : { call })),
    );
    return { calls: all.map(({ call }) => call), results: all.flatMap(({ event }) => event ?? []) };
  };
};

interface Made {
  call: RecordedToolCall;
  event?: NewEvent;
}
