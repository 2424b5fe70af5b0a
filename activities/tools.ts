/** Carries out the tool calls of a run: each is one activity whose one result is recorded under the call's id. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { createHash } from 'node:crypto';
import { newUuid } from '../src/platform/core/ids.ts';
import { isDatabaseAway } from '../src/platform/db/away.ts';
import type { GuardedFetch } from '../src/platform/egress/egress.ts';
import type { FileStore } from '../src/platform/files/files.ts';
import { isStorageAway } from '../src/platform/files/storage-away.ts';
import { slotWait, type SlotWait } from '../src/platform/temporal/activity-slots.ts';
import { answerOf, type Submission } from '../src/resources/miniapps/model.ts';
import type { MiniappStore } from '../src/resources/miniapps/store.ts';
import type { ToolCredential } from '../src/resources/integrations/model.ts';
import { artifactKey, fileOfCall, isTerminal } from '../src/resources/runs/model.ts';
import type { WaitsForSlots } from '../src/resources/receivers/model.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { ToolCallInRun } from '../src/resources/runs/store/tool-calls.ts';
import { ToolError, type HumanWait, type ToolContext } from '../src/resources/tools/model.ts';
import type { ToolRegistry } from '../src/resources/tools/registry.ts';
import { untilRecorded } from './database-away.ts';
import { heartbeating } from './failures.ts';
import { STORAGE_WAIT_MS } from './storage-away.ts';

export interface ToolDependencies {
  runs: RunStore;
  tools: ToolRegistry;
  fetch: GuardedFetch;
  files: FileStore;
  /** @returns the token that the workspace gave to an integration, and where it may go */
  credential: (customerId: string, integration: string) => Promise<ToolCredential | undefined>;
  pages: Pick<MiniappStore, 'beginWait' | 'endWait'>;
}

/** The workflow waits for this before the call has a result. */
export type BegunWait = Pick<HumanWait, 'pageId' | 'timeoutMs'>;

/** Nobody knows whether it took effect: the run waits until a person has found out. */
export interface LostCall {
  isLost: true;
}

export interface CallReference {
  runId: string;
  callId: string;
}

/** A value that a model reads may be so long; a longer one is cut, and says so. */
const MAX_RESULT_LENGTH = 64_000;
export function presentable(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null';
  if (text.length <= MAX_RESULT_LENGTH) return value === undefined ? null : value;
  return { truncated: true, total_length: text.length, text: text.slice(0, MAX_RESULT_LENGTH).toWellFormed() };
}

/** A wait ends so much later than its page, so that an answer of the last moment is found. */
const AFTER_EXPIRY_MS = 1_000;

/** Failures of this type have a message that may be told to the model. */
export const TOOL_FAILED = 'tool_failed';

export const toolContextOf =
  ({ runs, fetch, files, credential }: ToolDependencies) =>
  (
    { customerId, runId, callId, agent }: Pick<ToolCallInRun, 'customerId' | 'runId' | 'callId' | 'agent'>,
    signal: AbortSignal,
  ): ToolContext => ({
    customerId,
    runId,
    callId,
    agent,
    signal,
    fetch,
    files,
    now: () => new Date(),
    credential: (integration) => credential(customerId, integration),
    async saveArtifact({ filename, contentType, bytes }, nth = 0) {
      const file = fileOfCall(callId, nth);
      const fileKey = artifactKey(customerId, runId, file);
      await files.put(fileKey, bytes, contentType);
      const artifactId = await runs.recordArtifact({
        id: newUuid(),
        customerId,
        runId,
        callId: file,
        filename,
        contentType,
        fileKey,
        sizeBytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
      return { artifactId };
    },
  });

export const createToolActivities = (deps: ToolDependencies) => {
  const { runs, tools, pages } = deps;
  const contextOf = toolContextOf(deps);

  /** Records an answer, however long the person took. */
  const recordAnswer = ({ runId, callId, tool, ageMs }: ToolCallInRun, pageId: string, submission: Submission) =>
    runs.recordToolResult({
      runId,
      callId,
      tool,
      status: 'succeeded',
      result: presentable(answerOf(pageId, submission)),
      durationMs: Math.round(ageMs),
    });

  /** @returns undefined where the answer is there already */
  async function beginWait(call: ToolCallInRun, { pageId, timeoutMs, url }: HumanWait): Promise<BegunWait | undefined> {
    const { runId, callId, tool } = call;
    const page = await pages.beginWait(call, pageId);
    if (!page) throw new ToolError(`there is no page ${pageId}`);
    if (page.submission) {
      await recordAnswer(call, pageId, page.submission);
      return undefined;
    }
    if (page.remainingMs <= 0)
      throw new ToolError(`nobody answered on page ${pageId}, and it takes no answer any more`);
    if (url) {
      const payload = { call_id: callId, tool, page_id: pageId, url, expires_at: page.expiresAt.toISOString() };
      await runs.noteEvents(runId, [{ key: `tool:${callId}:page`, type: 'tool_call', status: 'waiting', payload }]);
    }
    // The wait lasts to the last moment in which the page takes an answer, and a little longer.
    return { pageId, timeoutMs: Math.ceil(Math.min(timeoutMs, page.remainingMs)) + AFTER_EXPIRY_MS };
  }

  return {
    /** @returns what to wait for, where the call has no result yet */
    async callTool({
      runId,
      callId,
      mayWait,
    }: CallReference & WaitsForSlots): Promise<BegunWait | LostCall | SlotWait | void> {
      const slot = mayWait ? slotWait(Context.current().info.attempt) : undefined;
      if (slot) return slot;
      const call = await runs.loadToolCall(runId, callId);
      if (!call || call.status !== 'pending' || isTerminal(call.runStatus)) return;
      // It was made before the run's workflow was lost and begun anew.
      if (call.isLost) return { isLost: true };
      const startedAt = performance.now();
      const record = (status: 'succeeded' | 'failed', result: unknown) =>
        untilRecorded(() =>
          runs.recordToolResult({
            runId,
            callId,
            tool: call.tool,
            status,
            result,
            durationMs: Math.round(performance.now() - startedAt),
          }),
        );

      const tool = await tools.get(call.customerId, call.tool);
      if (!tool) return record('failed', { error: `the tool "${call.tool}" does not exist any more` });
      let result: unknown;
      try {
        const value = await heartbeating((signal) => tool.execute(call.arguments as never, contextOf(call, signal)));
        if (tool.dispatch === 'human') return await beginWait(call, value as HumanWait);
        result = presentable(value);
      } catch (error) {
        if (error instanceof ToolError) return record('failed', { error: error.message });
        if (!(error instanceof Error) || error.name === 'CancelledFailure' || error.name === 'AbortError') throw error;
        // The error's words come from a query, and are neither for the model nor for a history.
        if (isDatabaseAway(error) || error instanceof DrizzleQueryError) throw error;
        // The model would go on without the file. Nobody knows how far an effect had come that must not happen twice.
        if (isStorageAway(error)) {
          if (!mayWait || tool.effect === 'irreversible') throw error;
          return { slotWaitMs: STORAGE_WAIT_MS, made: Context.current().info.attempt - 1, waitsFor: 'file storage' };
        }
        throw ApplicationFailure.create({
          type: TOOL_FAILED,
          message: `${error.name}: ${error.message}`.slice(0, 300),
        });
      }
      await record('succeeded', result);
    },

    /** Records the result of a call that waited for a person: what was sent, or that nothing came in time. */
    async recordSubmission({ runId, callId, pageId }: CallReference & { pageId: string }): Promise<void> {
      const call = await runs.loadToolCall(runId, callId);
      if (!call) return;
      const page = await pages.endWait(call, pageId);
      if (page?.submission) return recordAnswer(call, pageId, page.submission);
      const isOpen = page !== undefined && page.remainingMs > 0;
      const until = isOpen ? `; page ${pageId} takes an answer until ${page.expiresAt.toISOString()}` : '';
      await runs.refuseToolCall(call, `nobody has answered in time${until}`);
    },

    /**
     * Records the result of a call whose activity failed for good.
     * @returns what to wait for, where a person is asked whether it took effect
     */
    async recordToolFailure({
      runId,
      callId,
      message,
      isOutcomeUnknown,
    }: CallReference & { message: string; isOutcomeUnknown: boolean }): Promise<LostCall | void> {
      const call = await runs.loadToolCall(runId, callId);
      if (!call) return;
      // In a project a person decides: its phase, which asked for this run, finds how it ended and pauses the project.
      if (isOutcomeUnknown && call.attemptId !== null && call.depth === 0) {
        const message = `nobody knows whether the call of ${call.tool} took effect`;
        await runs.endRun(runId, { status: 'failed', error: { code: 'tool_outcome_unknown', message } });
      }
      if (!isOutcomeUnknown) return runs.refuseToolCall(call, message);
      if (await runs.askOrRefuse(call)) return { isLost: true };
    },

    /** Tells whether a person has said what became of a lost call, or its result has come after all. */
    isToolCallOver: ({ runId, callId }: CallReference): Promise<boolean> => runs.isToolCallOver(runId, callId),
  };
};
