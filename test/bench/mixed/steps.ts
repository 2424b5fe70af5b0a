/** Steps of mixed traffic, each with more callers than the one before, and what each of them was like. */
import { Client, Connection } from '@temporalio/client';
import { present } from '../../../src/platform/core/present.ts';
import type { Deployment } from '../../support/processes/deployment.ts';
import { percentile } from '../report.ts';
import type { CountingClient, Sample } from './client.ts';
import { together } from './histories.ts';
import { AGENT_STEPS, underTraffic } from './traffic.ts';
import { executionOf } from './unit-costs.ts';
import { cpuByPart, difference, type ByPart } from './usage.ts';
import { watch, type Seen } from './watch.ts';

export interface Times {
  count: number;
  p50: number;
  p99: number;
}

export interface StepResult {
  callers: number;
  seconds: number;
  /** Of the time in which callers began new things. */
  requestsPerS: number;
  runsPerS: number;
  projectsPerS: number;
  /** Runs of callers and of projects' steps; those of schedules are not among them. */
  agentRunsPerS: number;
  /** By kind of request. */
  requests: Record<string, Times>;
  /** Of whole runs and projects, as a caller that polls sees their end. */
  ends: Record<string, Times>;
  /** Requests that were not answered 2xx, by status; 0: no answer. */
  errors: Record<string, number>;
  /** What came to a wrong end although each request was answered. */
  failures: string[];
  errorRate: number;
  /** Milliseconds that tasks waited in Temporal for a worker. */
  workflowTaskWait: Times;
  activityWait: Times;
  cpuMs: ByPart;
  /** Of all cores, by everything that was measured. */
  seen: Seen;
}

/** Executions whose histories are read after a step. */
const SAMPLE = 60;

const timesOf = (values: readonly number[]): Times => ({
  count: values.length,
  p50: percentile(values, 50),
  p99: percentile(values, 99),
});

export const byKind = <T>(items: readonly T[], kindOf: (item: T) => string, msOf: (item: T) => number) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(items, kindOf))
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([kind, of]) => [kind, timesOf(present(of).map(msOf))]),
  );

const isError = ({ status }: Sample): boolean => status < 200 || status >= 300;

export async function trafficStep(
  deployment: Deployment,
  client: CountingClient,
  { callers, ms, random }: { callers: number; ms: number; random: () => number },
): Promise<{ result: StepResult; samples: Sample[] }> {
  client.take();
  const [cpu, seen, from] = [cpuByPart(deployment), watch(deployment), performance.now()];
  const { done, failures } = await underTraffic(client, { callers, ms, random });
  const seconds = (performance.now() - from) / 1_000;
  const cpuMs = difference(cpu, cpuByPart(deployment));
  const samples = client.take();
  const temporal = new Client({ connection: await Connection.connect({ address: deployment.temporalAddress }) });
  // Evenly over the step.
  const sampled = done.filter((_, i) => i % Math.max(1, Math.ceil(done.length / SAMPLE)) === 0);
  const waits = together(await Promise.all(sampled.map((one) => executionOf(deployment, temporal, one))));
  await temporal.connection.close();
  const errors = samples.filter(isError);
  const count = (kind: string) => done.filter((one) => one.kind === kind).length;
  const result: StepResult = {
    callers,
    seconds,
    cpuMs,
    failures,
    seen: await seen(),
    requestsPerS: samples.length / seconds,
    runsPerS: count('run') / seconds,
    projectsPerS: count('project') / seconds,
    agentRunsPerS: (count('run') + AGENT_STEPS * count('project')) / seconds,
    requests: byKind(
      samples,
      ({ kind }) => kind,
      (sample) => sample.ms,
    ),
    ends: byKind(
      done,
      ({ kind }) => `${kind}, to its end`,
      (one) => one.ms,
    ),
    errors: Object.fromEntries(
      Object.entries(Object.groupBy(errors, ({ status }) => String(status))).map(([status, of]) => [
        status,
        present(of).length,
      ]),
    ),
    errorRate: errors.length / Math.max(1, samples.length),
    workflowTaskWait: timesOf(waits.workflowTaskMs),
    activityWait: timesOf(waits.activityMs),
  };
  return { result, samples };
}
