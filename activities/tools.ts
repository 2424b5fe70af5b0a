/** Tool calls of a run: each is one activity whose one result is recorded under the call's id. */
import { ApplicationFailure } from '@temporalio/common';
import { createHash } from 'node:crypto';
import { newUuid } from '../src/platform/core/ids.ts';
import type { GuardedFetch } from '../src/platform/egress/egress.ts';
import type { FileStore } from '../src/platform/files/files.ts';
import { isTerminal } from '../src/resources/runs/model.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { ToolCallInRun } from '../src/resources/runs/store/tool-calls.ts';
import { ToolError, type ToolContext } from '../src/resources/tools/model.ts';
import type { ToolRegistry } from '../src/resources/tools/registry.ts';
import { presentable } from './context.ts';
import { heartbeating } from './failures.ts';

export interface ToolDependencies {
  runs: RunStore;
  tools: ToolRegistry;
  fetch: GuardedFetch;
  files: FileStore;
  /** What the workspace gave to an integration as its token. */
  credential: (customerId: string, integration: string) => Promise<string | undefined>;
}

export interface CallReference {
  runId: string;
  callId: string;
}

/** The failure type whose message may be told to the model. */
export const TOOL_FAILED = 'tool_failed';

export const createToolActivities = ({ runs, tools, fetch, files, credential }: ToolDependencies) => {
  const contextOf = ({ customerId, runId, callId, agent }: ToolCallInRun, signal: AbortSignal): ToolContext => ({
    customerId,
    runId,
    callId,
    agent,
    signal,
    fetch,
    files,
    now: () => new Date(),
    credential: (integration) => credential(customerId, integration),
    async saveArtifact({ filename, contentType, bytes }) {
      // The same key each time: a repeated call writes the same file over itself.
      const fileKey = `runs/${customerId}/${runId}/${callId}`;
      await files.put(fileKey, bytes, contentType);
      const artifactId = await runs.recordArtifact({
        ...{ id: newUuid(), customerId, runId, callId, filename, contentType, fileKey },
        sizeBytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
      return { artifactId };
    },
  });

  return {
    async callTool({ runId, callId }: CallReference): Promise<void> {
      const call = await runs.loadToolCall(runId, callId);
      if (!call || call.status !== 'pending' || isTerminal(call.runStatus)) return;
      const startedAt = performance.now();
      const record = (status: 'succeeded' | 'failed', result: unknown) =>
        runs.recordToolResult({
          runId,
          callId,
          tool: call.tool,
          status,
          result,
          durationMs: Math.round(performance.now() - startedAt),
        });

      const tool = await tools.get(call.customerId, call.tool);
      if (!tool) return record('failed', { error: `the tool "${call.tool}" does not exist any more` });
      try {
        const value = await heartbeating((signal) => tool.execute(call.arguments as never, contextOf(call, signal)));
        await record('succeeded', presentable(value));
      } catch (error) {
        if (error instanceof ToolError) return record('failed', { error: error.message });
        if (!(error instanceof Error) || error.name === 'CancelledFailure' || error.name === 'AbortError') throw error;
        throw ApplicationFailure.create({
          type: TOOL_FAILED,
          message: `${error.name}: ${error.message}`.slice(0, 300),
        });
      }
    },

    /** The result of a call whose activity failed for good. */
    async recordToolFailure({
      runId,
      callId,
      message,
      isOutcomeUnknown,
    }: CallReference & { message: string; isOutcomeUnknown: boolean }): Promise<void> {
      const call = await runs.loadToolCall(runId, callId);
      if (!call) return;
      // In a project a person decides: its phase, which asked for this run, finds how it ended and pauses the project.
      if (isOutcomeUnknown && call.attemptId !== null && call.depth === 0) {
        const message = `nobody knows whether the call of ${call.tool} took effect`;
        await runs.endRun(runId, { status: 'failed', error: { code: 'tool_outcome_unknown', message } });
      }
      const error = isOutcomeUnknown
        ? 'the outcome of this call is unknown: it may or may not have taken effect; do not repeat it, say so in your answer'
        : message;
      await runs.refuseToolCall(call, error);
    },
  };
};
