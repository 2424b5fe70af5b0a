/**
 * The metrics of a process. Each process counts for itself, so that the sum over processes is the deployment's figure.
 * Labels have few values: no workspace, no id, and of names that tenants choose only `custom`.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type Meters = ReturnType<typeof createMeters>;

/**
 * Buckets in seconds: for what answers a person, for what calls models or tools, and for what may take days. Each bucket
 * is a series of each combination of labels, so there are few: about a factor of four apart, and with every threshold of
 * `deploy/observability/alerts.yml` among them, where a quantile is exact.
 */
const ANSWER_S = [0.025, 0.1, 0.5, 2.5, 5, 30];
const CALL_S = [0.05, 0.5, 2.5, 10, 60, 300];
const WORK_S = [0.5, 2.5, 10, 60, 900, 14_400];
/** Buckets around a tick of 20 ms and around 250 ms, which `AosProcessBlocked` and the proofs count as a standstill. */
const DELAY_S = [0.025, 0.1, 0.25, 1, 5, 30];
const PROJECT_S = [300, 3_600, 86_400, 604_800, 2_592_000];

/**
 * Gauges of `prom-client` that are named like counters, which Prometheus' own checker refuses. What they sum up is in
 * the families without the ending, by type.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * Of a timer of `prom-client` that would wake the process a hundred times a second, and whose delays count the time that
 * it should wait. `aos_event_loop_delay_seconds` tells the same.
 */
const TIMED = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map((of) => `nodejs_eventloop_lag_${of}_seconds`);
/** The longest that a timer can wait, in ms. */
const HARDLY_EVER = 2 ** 31 - 1;

export function createMeters() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: HARDLY_EVER });
  for (const name of [...MISNAMED, ...TIMED]) registry.removeSingleMetric(name);
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ) => new Histogram({ name, help, labelNames, buckets, registers: [registry] });

  return {
    registry,

    loopDelay: histogram('aos_event_loop_delay_seconds', 'How late a tick of the event loop came', [], DELAY_S),
    loopOwnDelay: histogram(
      'aos_event_loop_own_delay_seconds',
      "How much of that the process's main thread was computing, by its CPU time; the rest it waited for a core",
      [],
      DELAY_S,
    ),
    longestDelay: longest(
      registry,
      'aos_event_loop_longest_delay_seconds',
      'The longest that the event loop stood still since the last scrape',
    ),
    longestOwnDelay: longest(
      registry,
      'aos_event_loop_longest_own_delay_seconds',
      'The longest that it stood still by computing since the last scrape',
    ),

    requests: histogram(
      'aos_http_request_duration_seconds',
      'Time to answer a request',
      ['listener', 'method', 'route', 'status'],
      ANSWER_S,
    ),
    refusedCredentials: counter(
      'aos_auth_refusals_total',
      'Requests whose credential was refused, by the kind asked for and why',
      ['credential', 'reason'],
    ),
    signIns: counter('aos_sign_ins_total', 'Ends of sign-ins, by what came of them', ['method', 'outcome']),
    confirmations: counter('aos_otp_checks_total', 'Requests that a mailed code must confirm, by what came of them', [
      'outcome',
    ]),

    taskQueueWait: histogram(
      'aos_task_queue_wait_seconds',
      'Time from the schedule of an activity to its start on a worker, local ones excepted, by task queue',
      ['queue'],
      ANSWER_S,
    ),
    workerSlots: slotsOfWorkers(registry),
    scheduleLag: histogram(
      'aos_schedule_lag_seconds',
      'Time from the planned moment of a tick to its work, by the workflow that it starts',
      ['workflow'],
      WORK_S,
    ),

    chores: histogram(
      'aos_chore_duration_seconds',
      'Time that a chore of housekeeping took, by what came of it',
      ['chore', 'outcome'],
      CALL_S,
    ),

    runWait: histogram(
      'aos_run_wait_seconds',
      'Time from the acceptance of a run to its first turn; in a conversation it waits for the runs before it',
      ['agent', 'conversation'],
      WORK_S,
    ),
    runs: histogram(
      'aos_run_duration_seconds',
      'Time from the acceptance of a run to its end',
      ['agent', 'outcome'],
      WORK_S,
    ),
    runFailures: counter('aos_run_failures_total', 'Runs that failed, by cause', ['cause']),
    projects: histogram(
      'aos_project_duration_seconds',
      'Time from the creation of a project to its end',
      ['template', 'outcome'],
      PROJECT_S,
    ),

    modelCalls: histogram(
      'aos_model_call_duration_seconds',
      'Time that a call of a model took, by what came of it',
      ['provider', 'model', 'outcome'],
      CALL_S,
    ),
    tokens: counter('aos_model_tokens_total', 'Tokens of recorded turns', ['model', 'agent', 'direction']),
    costUsd: counter('aos_model_cost_usd_total', 'US dollars that recorded turns cost, where a price is known', [
      'model',
      'agent',
    ]),
    unpricedTurns: counter('aos_model_unpriced_turns_total', 'Recorded turns of models without a known price', [
      'model',
    ]),
    toolCalls: histogram(
      'aos_tool_call_duration_seconds',
      'Time that a call of a tool took, by what came of it',
      ['kind', 'outcome'],
      CALL_S,
    ),

    deliveryAttempts: counter('aos_delivery_attempts_total', 'Attempts to deliver, by what came of them', [
      'kind',
      'outcome',
    ]),
    deliveriesGivenUp: counter('aos_deliveries_given_up_total', 'Deliveries of which no further attempt is made', [
      'kind',
    ]),
  };
}

/**
 * Makes a gauge of the largest value since it was last read: an average over a scrape would not show a single
 * standstill.
 */
function longest(registry: Registry, name: string, help: string) {
  let most = 0;
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(most);
      most = 0;
    },
  });
  return { note: (value: number) => void (most = Math.max(most, value)) };
}

type CountsOfSlots = () => readonly { kind: string; state: string; count: number }[];

/** Makes a gauge of the slots of each worker in the process, as they are at the moment of a scrape. */
function slotsOfWorkers(registry: Registry) {
  const workers = new Map<string, CountsOfSlots>();
  new Gauge({
    name: 'aos_worker_slots',
    help: 'Slots of a worker for activities, by kind, and activities that gave theirs back and wait',
    labelNames: ['queue', 'kind', 'state'],
    registers: [registry],
    collect() {
      for (const [queue, counts] of workers) {
        for (const { count, ...labels } of counts()) this.set({ queue, ...labels }, count);
      }
    },
  });
  return { follow: (queue: string, counts: CountsOfSlots) => void workers.set(queue, counts) };
}
