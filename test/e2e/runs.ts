/** What the tests of crashes ask of the service, over HTTP alone. */
import { expect } from '@jest/globals';
import type { Processes } from '../support/processes/processes.ts';
import { endsOf, type EventRow } from '../support/fixtures/runs.ts';
import { eventually } from '../support/service/service.ts';

/** @returns the id of the accepted run */
export async function dispatch(processes: Processes, prompt: string, more: object = {}): Promise<string> {
  const { status, body } = await processes.api('POST', '/v1/runs', { agent: 'assistant', prompt, ...more });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.run_id;
}

async function eventsOf(processes: Processes, runId: string): Promise<EventRow[]> {
  const { status, body } = await processes.cp('GET', `/v1/runs/${runId}/events?limit=2000`);
  expect(status).toBe(200);
  return body.data;
}

export const untilRunning = (processes: Processes, runId: string): Promise<void> =>
  eventually(async () => {
    const { body } = await processes.api('GET', `/v1/runs/${runId}`);
    if (body.status !== 'running') throw new Error(`run ${runId} is ${body.status}`);
  });

export interface Outcome {
  status: string;
  output: string | null;
  completed_at: string;
  events: EventRow[];
}

/** Waits until each run, by name, has ended. Its events are read after that, so that a second end would be among them. */
export async function outcomesOf<Name extends string>(
  processes: Processes,
  runs: Record<Name, string>,
): Promise<Record<Name, Outcome>> {
  const outcomes: [string, Outcome][] = [];
  for (const [name, runId] of Object.entries<string>(runs)) {
    const run = await eventually(async () => {
      const { body } = await processes.api('GET', `/v1/runs/${runId}`);
      if (!body.completed_at) throw new Error(`the run '${name}' (${runId}) is ${body.status}`);
      return body;
    });
    outcomes.push([name, { ...run, events: await eventsOf(processes, runId) }]);
  }
  return Object.fromEntries(outcomes) as Record<Name, Outcome>;
}

/** The terminal events of each run, by name. */
export const endsIn = (outcomes: Record<string, Outcome>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(outcomes).map(([name, { events }]) => [name, endsOf(events.map(({ event_type }) => event_type))]),
  );
