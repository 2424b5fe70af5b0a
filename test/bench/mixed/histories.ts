/**
 * What an execution was to Temporal, read from its history: events, bytes, billable actions, and how long tasks waited.
 *
 * Actions are counted as Temporal Cloud bills them (docs.temporal.io/cloud/actions): the start of an execution; of a
 * child one more for the intent; each attempt of an activity; all local activities of one workflow task together; each
 * timer, signal, update and upsert of search attributes. Heartbeats and schedules are in no history: the first come from
 * calls of several seconds only, a tick of the second is two more. Fairness, where it is switched on, adds a tenth.
 */
import type { Client } from '@temporalio/client';
import { present } from '../../../src/platform/core/present.ts';
import { sum } from '../report.ts';

type Event = NonNullable<Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']>[0];

export interface Execution {
  events: number;
  bytes: number;
  actions: number;
  /** Milliseconds from when a task could be taken to when a worker took it. */
  workflowTaskMs: number[];
  activityMs: number[];
  children: string[];
}

const ONE_ACTION = [
  'workflowExecutionStartedEventAttributes',
  'startChildWorkflowExecutionInitiatedEventAttributes',
  'timerStartedEventAttributes',
  'workflowExecutionSignaledEventAttributes',
  'workflowExecutionUpdateAcceptedEventAttributes',
  'upsertWorkflowSearchAttributesEventAttributes',
] as const satisfies readonly (keyof Event)[];

const at = ({ eventTime }: Event): number =>
  Number(present(eventTime).seconds) * 1_000 + Number(present(eventTime).nanos) / 1e6;

export async function readExecution({ workflow }: Client, workflowId: string): Promise<Execution> {
  const handle = workflow.getHandle(workflowId);
  const [{ events }, { historySize }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
  const bytes = historySize ?? 0;
  const read: Execution = { events: 0, bytes, actions: 0, workflowTaskMs: [], activityMs: [], children: [] };
  const times = new Map<number, number>();
  /** Workflow tasks that ended with local activities. */
  const batches = new Set<number>();
  for (const event of events ?? []) {
    read.events++;
    times.set(Number(event.eventId), at(event));
    read.actions += ONE_ACTION.filter((attributes) => event[attributes]).length;
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    if (child) read.children.push(present(child.workflowId));
    const marker = event.markerRecordedEventAttributes;
    if (marker?.markerName === 'core_local_activity') batches.add(Number(marker.workflowTaskCompletedEventId));
    const task = event.workflowTaskStartedEventAttributes;
    if (task) read.workflowTaskMs.push(at(event) - present(times.get(Number(task.scheduledEventId))));
    const activity = event.activityTaskStartedEventAttributes;
    if (activity) {
      read.actions += activity.attempt ?? 1;
      read.activityMs.push(at(event) - present(times.get(Number(activity.scheduledEventId))));
    }
  }
  read.actions += batches.size;
  return read;
}

/** An execution and its children, and theirs. */
export async function readTree(client: Client, workflowId: string): Promise<Execution> {
  const own = await readExecution(client, workflowId);
  return together([own, ...(await Promise.all(own.children.map((child) => readTree(client, child))))]);
}

export const together = (executions: readonly Execution[]): Execution => ({
  events: sum(executions.map(({ events }) => events)),
  bytes: sum(executions.map(({ bytes }) => bytes)),
  actions: sum(executions.map(({ actions }) => actions)),
  workflowTaskMs: executions.flatMap(({ workflowTaskMs }) => workflowTaskMs),
  activityMs: executions.flatMap(({ activityMs }) => activityMs),
  children: executions.flatMap(({ children }) => children),
});
