/** Records of a run's workflow beside those of its turns: ends, and runs that it spawned. */
import { newRunId } from '../src/platform/core/ids.ts';
import { Problem } from '../src/platform/core/problem.ts';
import type { AgentStore } from '../src/resources/agents/store.ts';
import { MAX_SPAWN_DEPTH, type RunError, type TerminalStatus } from '../src/resources/runs/model.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { AfterRun } from '../src/resources/runs/store/turns.ts';
import { SpawnRunArguments } from '../src/resources/tools/builtin/spawn-run.ts';
import type { CallReference } from './tools.ts';

export interface RunDependencies {
  runs: RunStore;
  agents: AgentStore;
  startFollowing: (after: AfterRun) => Promise<void>;
}

export const createRunActivities = ({ runs, agents, startFollowing }: RunDependencies) => ({
  /** @returns how the run ended, which may be an earlier end than the one asked for */
  async endRun({
    runId,
    status,
    error,
  }: {
    runId: string;
    status: 'failed' | 'cancelled';
    error?: RunError;
  }): Promise<{ status: TerminalStatus }> {
    const ended = await runs.endRun(runId, { status, error });
    if (!ended) return { status };
    await startFollowing(ended.after);
    return { status: ended.status };
  },

  /** Accepts the run that a `spawn_run` call asks for: one run for a call, however often it is repeated. */
  async acceptChildRun({
    runId,
    callId,
  }: CallReference): Promise<{ runId: string; agent: string; wait: boolean } | undefined> {
    const call = await runs.loadToolCall(runId, callId);
    if (!call || call.status !== 'pending') return undefined;
    const { agent, prompt, wait } = SpawnRunArguments.parse(call.arguments);
    const earlier = await runs.findChildRun(runId, callId);
    if (earlier) return { runId: earlier.id, agent, wait };

    const refuse = async (error: string) => {
      await runs.refuseToolCall(call, error);
      return undefined;
    };
    if (call.depth >= MAX_SPAWN_DEPTH)
      return refuse(`runs may be nested ${MAX_SPAWN_DEPTH} deep; do this part yourself`);
    if (!(await agents.isAgent(call.customerId, agent))) return refuse(`there is no agent "${agent}"`);
    const childId = newRunId();
    try {
      await runs.acceptRun({
        id: childId,
        customerId: call.customerId,
        agent,
        transport: call.transport,
        prompt,
        threadId: null,
        channelId: null,
        conversation: null,
        override: null,
        parent: { runId, callId, depth: call.depth + 1, budgetIds: call.budgetIds, attemptId: call.attemptId },
      });
    } catch (error) {
      if (error instanceof Problem) return refuse(error.message);
      throw error;
    }
    await runs.noteEvents(runId, [
      { key: `tool:${callId}:child`, type: 'agent_run_started', payload: { call_id: callId, run_id: childId, agent } },
    ]);
    return { runId: childId, agent, wait };
  },

  /** Records the result of a `spawn_run` call: the child's answer, or its id where nobody waits for it. */
  async recordChildRun({ runId, callId }: CallReference): Promise<void> {
    const [call, child] = [await runs.loadToolCall(runId, callId), await runs.findChildRun(runId, callId)];
    if (!call || !child) return;
    const { id, agent, status, output, error } = child;
    const failed = status === 'failed' || status === 'cancelled';
    await runs.recordToolResult({
      runId,
      callId,
      tool: call.tool,
      durationMs: 0,
      status: failed ? 'failed' : 'succeeded',
      result: failed ? { run_id: id, agent, status, error: error ?? status } : { run_id: id, agent, status, output },
    });
  },
});
