/** Calls that the turn which they are of makes, before its reply is recorded. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createQuickCalls } from '../../activities/quick-calls.ts';
import type { RecordedToolCall } from '../../src/resources/runs/store/run-in-turn.ts';
import { builtinTool } from '../../src/resources/tools/builtin/builtin-tool.ts';
import { ToolError, type Tool } from '../../src/resources/tools/model.ts';
import { createToolContext } from '../resources/tools/tool-context.ts';

const RUN = { id: 'run_1', customerId: 'acme', agent: 'writer' };

const callOf = (tool: string, given: Partial<RecordedToolCall> = {}): RecordedToolCall => ({
  callId: `call_1_${tool}`,
  turn: 1,
  position: 0,
  tool,
  arguments: { of: tool },
  effect: 'read',
  dispatch: 'activity',
  status: 'pending',
  result: null,
  ...given,
});

function makeOf(executes: Record<string, Tool['execute']>, isQuick = true) {
  const about = { area: 'general', description: 'Does it.', effect: 'read', isQuick } as const;
  const args = z.object({ of: z.string() });
  const tools = Object.entries(executes).map(([slug, execute]) => builtinTool({ ...about, slug, args, execute }));
  const make = createQuickCalls({
    tools: { get: async (_, slug) => tools.find((tool) => tool.slug === slug) },
    contextOf: (call, signal) => ({ ...createToolContext().context, ...call, signal }),
  });
  return (...calls: RecordedToolCall[]) => make(RUN, calls, tools);
}

// Guards: what a tool answers or refuses is recorded with the reply, and told by an event each.
test('have their results at once', async () => {
  const make = makeOf({
    answers: async (args, { customerId, runId, agent }) => ({ args, customerId, runId, agent }),
    refuses: async () => Promise.reject(new ToolError('not so')),
  });
  const { calls, results } = await make(callOf('answers'), callOf('refuses'));
  expect(calls).toMatchObject([
    {
      status: 'succeeded',
      result: { args: { of: 'answers' }, customerId: 'acme', runId: 'run_1', agent: 'writer' },
    },
    { status: 'failed', result: { error: 'not so' } },
  ]);
  expect(results).toMatchObject([
    { key: 'tool:call_1_answers:result', type: 'tool_result', status: 'succeeded' },
    { key: 'tool:call_1_refuses:result', type: 'tool_result', status: 'failed' },
  ]);
});

// Guards: a reply that is paid for waits for nothing, and a call that cannot be made now is made by an activity, which tries
// again.
test('are left to an activity where they take long or break', async () => {
  let told: AbortSignal | undefined;
  const make = makeOf({
    hangs: (_, { signal }) => ((told = signal), new Promise(() => {})),
    breaks: async () => Promise.reject(new Error('the database is away')),
  });
  const calls = [callOf('hangs'), callOf('breaks')];
  expect(await make(...calls)).toEqual({ calls, results: [] });
  expect(told?.aborted).toBe(true);
});

// Guards: no other call is made before its reply is recorded, and none that was refused.
test('are of quick tools alone', async () => {
  const never = async () => Promise.reject(new ToolError('was called'));
  const [slow, refused] = [callOf('any'), callOf('any', { status: 'failed', result: { error: 'bad arguments' } })];
  expect(await makeOf({ any: never }, false)(slow)).toEqual({ calls: [slow], results: [] });
  expect(await makeOf({ any: never })(refused)).toEqual({ calls: [refused], results: [] });
});
