/** Replays every recorded history against the workflow code as it is (`npm run histories:record` makes them). */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker, type WorkflowBundle } from '@temporalio/worker';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { itemAt, present } from '../../src/platform/core/present.ts';
import * as workflows from '../../workflows/index.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import { bundleWorkflows } from '../support/temporal/workflow-bundle.ts';

interface RecordedHistory {
  events: {
    eventType: string;
    workflowExecutionStartedEventAttributes?: {
      workflowType: { name: string };
      workflowId: string;
      continuedExecutionRunId?: string;
    };
    activityTaskStartedEventAttributes?: { attempt: number };
  }[];
}

const DIRECTORY = fileURLToPath(new URL('.', import.meta.url));
const texts = new Map(
  readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.json'))
    .map((file) => [file.replace('.json', ''), readFileSync(DIRECTORY + file, 'utf8')] as const),
);
const histories = new Map([...texts].map(([name, text]) => [name, JSON.parse(text) as RecordedHistory]));

let workflowBundle: WorkflowBundle;
let temporal: TestTemporal;
beforeAll(async () => {
  // Replay asks no server; but the SDK logs for a process as its first connection says.
  temporal = await connectTestTemporal();
  workflowBundle = await bundleWorkflows();
});
afterAll(() => temporal?.close());

/** Names of the histories that do not replay, with the reason. */
async function replay(recorded: ReadonlyMap<string, RecordedHistory>): Promise<[string, Error][]> {
  const inputs = [...recorded.values()].map((history) => ({ workflowId: startOf(history).workflowId, history }));
  const failures: [string, Error][] = [];
  let position = 0;
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, inputs)) {
    const [name] = itemAt([...recorded], position++);
    if (error) failures.push([name, error]);
  }
  expect(position).toBe(recorded.size);
  return failures;
}
const startOf = ({ events }: RecordedHistory) => events[0]!.workflowExecutionStartedEventAttributes!;

// Guards: executions that were open before a change of the workflow code continue after it.
test('every recorded history replays', async () => {
  expect(await replay(histories)).toEqual([]);
});

// Guards: the test above can fail: a history of different code does not replay.
test('a history of other code does not', async () => {
  const other = JSON.parse(present(texts.get('run-without-tools')).replaceAll('"takeTurn"', '"takeAnotherTurn"'));
  const [[, error] = []] = await replay(new Map([['other', other]]));
  expect(error).toBeInstanceOf(DeterminismViolationError);
});

describe('there is a history', () => {
  // Guards: every workflow has recorded histories.
  test('of every workflow', () => {
    const recorded = new Set([...histories.values()].map((history) => startOf(history).workflowType.name));
    expect([...recorded].sort()).toEqual(Object.keys(workflows).sort());
  });

  // Guards: each branch that a history is named for was really taken.
  test.each([
    ['run-failed', 'WORKFLOW_EXECUTION_FAILED'],
    ['run-broken-tools', 'ACTIVITY_TASK_FAILED'],
    ['run-parent', 'CHILD_WORKFLOW_EXECUTION_COMPLETED'],
    ['run-parent-of-failed', 'CHILD_WORKFLOW_EXECUTION_FAILED'],
    ['run-cancelled-with-child', 'CHILD_WORKFLOW_EXECUTION_CANCELED'],
    ['run-cancelled-in-model-call', 'WORKFLOW_EXECUTION_CANCELED'],
    ['run-waited-in-conversation', 'WORKFLOW_EXECUTION_SIGNALED'],
    ['run-asked-a-person', 'WORKFLOW_EXECUTION_SIGNALED'],
    ['run-asked-in-vain', 'TIMER_FIRED'],
    ['run-cancelled-while-asking', 'TIMER_CANCELED'],
    ['run-before-continuing-as-new', 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW'],
    ['run-before-continuing-to-wait', 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW'],
    ['webhook-delivered', 'WORKFLOW_EXECUTION_COMPLETED'],
    ['webhook-failed', 'ACTIVITY_TASK_FAILED'],
    ['webhook-exhausted', 'WORKFLOW_EXECUTION_FAILED'],
    ['housekeeper-before-continuing', 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW'],
    ['housekeeper-after-continuing', 'WORKFLOW_EXECUTION_SIGNALED'],
    ['output-waited', 'TIMER_FIRED'],
    ['output-delivered', 'WORKFLOW_EXECUTION_COMPLETED'],
    ['output-refused', 'ACTIVITY_TASK_FAILED'],
    ['output-exhausted', 'WORKFLOW_EXECUTION_FAILED'],
    ['output-dropped', 'WORKFLOW_EXECUTION_CANCELED'],
    ['export-made', 'WORKFLOW_EXECUTION_COMPLETED'],
    ['export-cancelled', 'WORKFLOW_EXECUTION_CANCEL_REQUESTED'],
    ['workspace-provisioning-failed', 'WORKFLOW_EXECUTION_FAILED'],
    ['workspace-provisioning-cancelled', 'WORKFLOW_EXECUTION_CANCEL_REQUESTED'],
    ['workspace-destroy-failed', 'ACTIVITY_TASK_FAILED'],
    ['project-parallel-phases', 'CHILD_WORKFLOW_EXECUTION_COMPLETED'],
    ['project-paused-and-resumed', 'WORKFLOW_EXECUTION_UPDATE_COMPLETED'],
    ['project-gate-signalled', 'WORKFLOW_EXECUTION_SIGNALED'],
    ['project-gate-rejected-and-retried', 'CHILD_WORKFLOW_EXECUTION_FAILED'],
    ['project-waited-for', 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED'],
    ['project-abandoned-in-flight', 'REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED'],
    ['project-phase-terminated', 'CHILD_WORKFLOW_EXECUTION_TERMINATED'],
    ['project-recovered-before-continuing', 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW'],
    ['phase-gate-scheduled', 'TIMER_FIRED'],
    ['phase-gate-expired', 'TIMER_FIRED'],
    ['phase-gate-timed-out', 'TIMER_FIRED'],
    ['phase-gate-reminded', 'TIMER_CANCELED'],
    ['project-gate-voted', 'WORKFLOW_EXECUTION_UPDATE_COMPLETED'],
    ['phase-gate-reworked', 'WORKFLOW_EXECUTION_SIGNALED'],
    ['phase-step-timed-out', 'CHILD_WORKFLOW_EXECUTION_CANCELED'],
    ['phase-step-retried', 'WORKFLOW_EXECUTION_FAILED'],
    ['phase-action-failed', 'ACTIVITY_TASK_FAILED'],
    ['phase-abandoned-in-flight', 'WORKFLOW_EXECUTION_CANCELED'],
    ['phase-orphaned', 'WORKFLOW_EXECUTION_CANCELED'],
    ['phase-before-continuing', 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW'],
    ['phase-detached', 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED'],
  ])('%s, with %s', (name, type) => {
    expect(present(histories.get(name)).events.map(({ eventType }) => eventType)).toContain(`EVENT_TYPE_${type}`);
  });

  // Guards: the histories contain repeated attempts and continued turns, not only the smooth way.
  test('of retries, of two tool turns, and of a run that goes on', () => {
    const attemptsIn = (name: string) =>
      present(histories.get(name)).events.map((event) => event.activityTaskStartedEventAttributes?.attempt ?? 0);
    expect(Math.max(...attemptsIn('run-retried'))).toBe(3);
    expect(Math.max(...attemptsIn('webhook-exhausted'))).toBe(8);
    expect(attemptsIn('run-two-tool-turns').filter((attempt) => attempt > 0)).toHaveLength(3 + 4);
    expect(startOf(present(histories.get('run-after-continuing-as-new'))).continuedExecutionRunId).toBeTruthy();
  });
});

// Guards: one phase, command or step adds little to a history, whatever it is about.
test('none is large', () => {
  const large = [...texts].filter(([, text]) => text.length > 48 * 1_024).map(([name]) => name);
  expect(large).toEqual([]);
});

// Guards: the committed histories contain no prompt, and nothing of the machine or folder where they were recorded.
test.each([...texts])('%s holds references only', (_, text) => {
  const plain = text.replace(/"data":"([A-Za-z0-9+/=]+)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
  expect(plain).toContain('"events"');
  expect(plain).not.toMatch(/canary|node_modules|file:|\.ts:\d|hostname/);
  const identities = new Set(plain.match(/"identity":"[^"]*"/g));
  expect([...identities]).toEqual(['"identity":"recorder"']);
});
