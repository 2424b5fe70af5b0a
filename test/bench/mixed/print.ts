/** The report of a load test in Markdown, and the constants of it that a capacity plan reads. */
import { present } from '../../../src/platform/core/present.ts';
import type { Beside, Side } from './bare.ts';
import type { StepResult, Times } from './steps.ts';
import type { UnitCost, UnitCosts } from './unit-costs.ts';
import { PARTS } from './usage.ts';

/** By process: megabytes as the system counts them, and bytes that are reachable after a collection. */
export interface AtRest {
  megabytes: Record<string, number>;
  liveBytes: Record<string, number>;
}

export interface Traffic {
  steps: StepResult[];
  /** Over all steps. */
  requests: Record<string, Times>;
  before: AtRest;
  after: AtRest;
  webhooks: { due: number; received: number };
  /** Runs of heartbeats and of the scheduled job that ended well while traffic went on, and those that did not. */
  scheduled: { succeeded: number; other: number };
}

export interface LoadReport {
  date: string;
  node: string;
  cores: number;
  cpu: string;
  load: number;
  quick: boolean;
  traffic?: Traffic;
  units?: UnitCosts;
  bare?: Beside;
}

const n = (value: number): string =>
  Number.isNaN(value) ? '' : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
const percent = (value: number): string => `${(value * 100).toFixed(2)}%`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line), ''];
}

export function printed({ traffic, units, bare, ...about }: LoadReport): string {
  return [
    `# Load${about.quick ? ', quick: too short to mean much' : ''}`,
    '',
    `${about.date}, Node ${about.node}, ${about.cores} cores (${about.cpu}), load average ${about.load} before the start.`,
    '2 API and 2 worker processes, native Postgres, one Temporal server with durable storage, callers beside them.',
    '',
    ...(traffic ? trafficTables(traffic) : []),
    ...(units ? unitTables(units) : []),
    ...(bare ? bareTable(bare) : []),
  ].join('\n');
}

function trafficTables({ steps, requests, before, after, webhooks, scheduled }: Traffic): string[] {
  const row = (measure: string, of: (step: StepResult) => string) => [measure, ...steps.map(of)];
  const wait = ({ p50, p99 }: Times) => `${n(p50)} / ${n(p99)}`;
  const cores = (step: StepResult, part: (typeof PARTS)[number]) => n(step.cpuMs[part] / (step.seconds * 1_000));
  const busiest = (step: StepResult) =>
    Object.entries(step.seen.waits)
      .sort(([, a], [, b]) => b - a)
      .slice(0, 3)
      .map(([event, count]) => `${event} ${count}`)
      .join(', ');
  const kinds = Object.keys({ ...requests });
  const errors = steps.flatMap((step) => Object.entries(step.errors).map(([status, count]) => `${count} x ${status}`));
  const failures = steps.flatMap((step) => step.failures);
  const change = (from: number, to: number) => `${to >= from ? '+' : ''}${percent(to / from - 1)}`;
  const mb = 2 ** 20;
  return [
    ...table(
      ['Callers', ...steps.map(({ callers }) => String(callers))],
      [
        row('Requests a second', (step) => n(step.requestsPerS)),
        row('Runs a second', (step) => n(step.runsPerS)),
        row('Projects a second', (step) => n(step.projectsPerS)),
        row("Runs a second, with those of projects' steps", (step) => n(step.agentRunsPerS)),
        row('Not answered 2xx', (step) => percent(step.errorRate)),
        row('Workflow task waits for a worker, p50 / p99, ms', (step) => wait(step.workflowTaskWait)),
        row('Activity waits for a worker, p50 / p99, ms', (step) => wait(step.activityWait)),
        row('Database connections, most', (step) => String(step.seen.connections)),
        row('Backends seen busy with', busiest),
        ...PARTS.map((part) => row(`Cores that ${part} took`, (step) => cores(step, part))),
      ],
    ),
    `Errors: ${errors.join(', ') || 'none'}. Wrong ends: ${failures.join('; ') || 'none'}.`,
    `Webhooks: ${webhooks.received} received of ${webhooks.due} due.`,
    `Scheduled runs: ${scheduled.succeeded} succeeded, ${scheduled.other} otherwise.`,
    '',
    ...table(
      ['Request, p50 / p99 in ms', ...steps.map(({ callers }) => `${callers} callers`), 'all', 'of'],
      [
        ...kinds.map((kind) => [
          kind,
          ...steps.map((step) => (step.requests[kind] ? wait(step.requests[kind]) : '')),
          wait(present(requests[kind])),
          String(present(requests[kind]).count),
        ]),
        ...['run, to its end', 'project, to its end'].map((kind) => [
          kind,
          ...steps.map((step) => (step.ends[kind] ? wait(step.ends[kind]) : '')),
          '',
          '',
        ]),
      ],
    ),
    ...table(
      ['Memory, MB', 'before', 'under load, most', 'after', 'change', 'reachable before', 'after', 'change'],
      Object.keys(before.megabytes).map((name) => {
        const most = Math.max(...steps.map(({ seen }) => seen.memory[name] ?? 0));
        const [was, is] = [before.liveBytes[name], after.liveBytes[name]];
        return [
          ...[name, n(present(before.megabytes[name])), n(most), n(present(after.megabytes[name]))],
          change(present(before.megabytes[name]), present(after.megabytes[name])),
          ...(was && is ? [n(was / mb), n(is / mb), change(was, is)] : ['', '', '']),
        ];
      }),
    ),
  ];
}

const UNITS: Record<keyof UnitCosts, string> = {
  run: 'run',
  runWithTool: 'with a tool call',
  runWithWebhook: 'with a webhook',
  project: 'project of 4 steps, a gate',
};

function unitTables(units: UnitCosts): string[] {
  const all = Object.keys(UNITS) as (keyof UnitCosts)[];
  const row = (measure: string, of: (cost: UnitCost) => number) => [measure, ...all.map((unit) => n(of(units[unit])))];
  const tables = new Set(all.flatMap((unit) => units[unit].tables.map(({ table }) => table)));
  const rowsIn = (unit: keyof UnitCosts, name: string) =>
    units[unit].tables.find(({ table }) => table === name) ?? { rows: 0, bytes: 0 };
  return [
    ...table(
      ['What one costs, polls included', ...Object.values(UNITS)],
      [
        row('CPU, ms', ({ cpuMs }) => cpuMs.total),
        ...PARTS.map((part) => row(`of which ${part}`, ({ cpuMs }) => cpuMs[part])),
        row('HTTP requests', ({ requests }) => requests),
        row('Statements of the APIs', ({ statements }) => statements.api),
        row('Statements of the workers', ({ statements }) => statements.worker),
        row('Temporal actions', ({ temporalActions }) => temporalActions),
        row('History events', ({ historyEvents }) => historyEvents),
        row('History, bytes', ({ historyBytes }) => historyBytes),
        row('Rows', ({ rows }) => rows),
        row('Bytes in Postgres, indexes included', ({ bytes }) => bytes),
        row('Bytes of write-ahead log', ({ walBytes }) => walBytes),
      ],
    ),
    ...table(
      ['Rows / bytes of one, by table', ...Object.values(UNITS)],
      [...tables].sort().map((name) => [
        name,
        ...all.map((unit) => {
          const { rows, bytes } = rowsIn(unit, name);
          return rows > 0 || bytes > 0 ? `${n(rows)} / ${n(bytes)}` : '';
        }),
      ]),
    ),
  ];
}

function bareTable({ callers, product, bare }: Beside): string[] {
  const row = (measure: string, of: (side: Side) => number) => [
    ...[measure, n(of(product)), n(of(bare))],
    `${(of(product) / of(bare)).toFixed(2)} x`,
  ];
  return table(
    [`Beside a bare workflow, ${callers} callers`, 'Product', 'Bare', 'Ratio'],
    [
      row('Runs a second', ({ runsPerS }) => runsPerS),
      row('CPU a run, ms', ({ cpuMs }) => cpuMs),
      row('Accept, p50, ms', ({ acceptMs }) => acceptMs.p50),
      row('Accept, p99, ms', ({ acceptMs }) => acceptMs.p99),
      row('Accept to terminal, p50, ms', ({ terminalMs }) => terminalMs.p50),
      row('Accept to terminal, p99, ms', ({ terminalMs }) => terminalMs.p99),
    ],
  );
}

/** As `docs/figures/load.json` keeps it. @throws Error where the report has no unit costs */
export function figuresOf({ date, node, cores, cpu, units, traffic }: LoadReport) {
  if (!units) throw new Error('--record needs the section units');
  const per = ({ cpuMs, rows, bytes, walBytes, temporalActions, historyEvents, historyBytes, ...cost }: UnitCost) => ({
    cpuMs: { api: cpuMs.api, worker: cpuMs.worker, postgres: cpuMs.postgres, temporal: cpuMs.temporal },
    rows,
    bytes,
    walBytes,
    temporalActions,
    historyEvents,
    historyBytes,
    queries: cost.statements.api + cost.statements.worker,
    httpRequests: cost.requests,
  });
  const connections = traffic && Math.max(...traffic.steps.map(({ seen }) => seen.connections));
  return {
    date: date.slice(0, 10),
    machine: `${cores} cores (${cpu}), Node ${node.slice(1)}`,
    perRun: per(units.run),
    perRunWithTool: per(units.runWithTool),
    perRunWithWebhook: per(units.runWithWebhook),
    perProject: per(units.project),
    ...(traffic && {
      connections,
      memoryMb: traffic.after.megabytes,
      runsPerS: Math.max(...traffic.steps.map(({ agentRunsPerS }) => agentRunsPerS)),
    }),
  };
}
