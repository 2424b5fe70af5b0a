/**
 * From what one run costs to what a deployment needs. Each line says its formula with the numbers in it, so that it can be
 * argued with. CPU, bytes and actions are measured (`docs/figures/load.json`); what is assumed is in `ASSUMED`.
 */

/** What one run takes, of all parts together. */
export interface RunCost {
  cpuMs: { api: number; worker: number; postgres: number; temporal: number };
  rows: number;
  bytes: number;
  walBytes?: number;
  temporalActions: number;
  historyEvents: number;
  historyBytes: number;
  queries: number;
}

/** As `npm run bench:load -- --record` keeps them. */
export interface Figures {
  date: string;
  machine: string;
  perRun: RunCost;
}

export interface Demand {
  runsPerSecond: number;
  /** How much of a core is planned to be busy. */
  utilization: number;
  poolSize: number;
  /** How long Temporal keeps histories after their end. */
  temporalRetentionDays: number;
  /** How long Postgres keeps what a run leaves. */
  keptDays: number;
}

export interface Line {
  what: string;
  value: number;
  unit: string;
  formula: string;
}

export const ASSUMED = {
  /** A shard writes one thing after another: 200 a second at 5 ms each, of which a fifth is planned for. */
  eventsPerShard: 40,
  /** Temporal's own advice for anything that may grow. The number can never be changed. */
  leastShards: 512,
  pageBytes: 8_192,
  /** A page is written once to the log and once by a checkpoint. */
  writesPerPage: 2,
  /** For migrations, operators and Temporal's visits where it shares the server. */
  spareConnections: 20,
};

const DAY_S = 86_400;
const GIB = 2 ** 30;

export function planCapacity({ perRun }: Figures, demand: Demand): Line[] {
  const { runsPerSecond: rate, utilization, poolSize, temporalRetentionDays, keptDays } = demand;
  const { cpuMs } = perRun;
  const cores = (ms: number) => Math.ceil((rate * ms) / 1_000 / utilization);
  const byCpu = (ms: number) => `${n(rate)}/s x ${n(ms)} ms / 1000 / ${utilization}`;
  const api = cores(cpuMs.api);
  const worker = cores(cpuMs.worker);
  const events = rate * perRun.historyEvents;
  const wal = perRun.walBytes ?? perRun.bytes * ASSUMED.writesPerPage;
  return [
    // A process of ours is one thread of JavaScript, so a core.
    { what: 'API processes', value: api, unit: 'of one core', formula: byCpu(cpuMs.api) },
    { what: 'Worker processes', value: worker, unit: 'of one core', formula: byCpu(cpuMs.worker) },
    { what: 'Postgres', value: cores(cpuMs.postgres), unit: 'cores', formula: byCpu(cpuMs.postgres) },
    { what: 'Temporal server', value: cores(cpuMs.temporal), unit: 'cores', formula: byCpu(cpuMs.temporal) },
    {
      what: 'Temporal actions',
      value: rate * perRun.temporalActions,
      unit: '/s',
      formula: `${n(rate)}/s x ${n(perRun.temporalActions)} a run`,
    },
    {
      what: 'Temporal actions a month',
      value: (rate * perRun.temporalActions * DAY_S * 30) / 1e6,
      unit: 'million',
      formula: `${n(rate)}/s x ${n(perRun.temporalActions)} x 86,400 s x 30 d`,
    },
    {
      what: 'History shards',
      value: powerOfTwo(Math.max(ASSUMED.leastShards, events / ASSUMED.eventsPerShard)),
      unit: 'for ever',
      formula: `${n(rate)}/s x ${n(perRun.historyEvents)} events / ${ASSUMED.eventsPerShard} a shard, power of 2, >= ${ASSUMED.leastShards}`,
    },
    {
      what: 'Temporal storage',
      value: (rate * perRun.historyBytes * DAY_S * temporalRetentionDays) / GIB,
      unit: 'GiB',
      formula: `${n(rate)}/s x ${n(perRun.historyBytes)} B x 86,400 s x ${temporalRetentionDays} d kept`,
    },
    {
      what: 'Postgres statements',
      value: rate * perRun.queries,
      unit: '/s',
      formula: `${n(rate)}/s x ${n(perRun.queries)} a run`,
    },
    {
      what: 'Postgres rows',
      value: rate * perRun.rows,
      unit: 'new/s',
      formula: `${n(rate)}/s x ${n(perRun.rows)} a run`,
    },
    {
      what: 'Postgres log (WAL)',
      value: (rate * wal) / 2 ** 20,
      unit: 'MiB/s',
      formula: `${n(rate)}/s x ${n(wal)} B`,
    },
    {
      what: 'Postgres writes',
      value: ((rate * wal) / ASSUMED.pageBytes) * ASSUMED.writesPerPage,
      unit: 'IOPS',
      formula: `${n(rate)}/s x ${n(wal)} B / 8 KiB x ${ASSUMED.writesPerPage} (log, checkpoint)`,
    },
    {
      what: 'Postgres size',
      value: (rate * perRun.bytes * DAY_S * keptDays) / GIB,
      unit: 'GiB',
      formula: `${n(rate)}/s x ${n(perRun.bytes)} B x 86,400 s x ${keptDays} d kept`,
    },
    {
      what: 'Postgres connections',
      value: (api + worker) * poolSize + ASSUMED.spareConnections,
      unit: 'max_connections',
      formula: `(${api} + ${worker}) processes x ${poolSize} + ${ASSUMED.spareConnections}`,
    },
  ];
}

const powerOfTwo = (least: number): number => 2 ** Math.ceil(Math.log2(least));

/** 12,345 and 0.12: as many places as say something. */
export const n = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value >= 100 ? 0 : value >= 1 ? 1 : 3 });
