/** What is measured, section by section, and the target beside each figure. */
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { first, itemAt, take } from '../../src/platform/core/present.ts';
import { oneAfterAnother, timeCalls, underLoad, type Throughput } from './load.ts';
import { addCpu, cpuOf, endWithUs, memoryOf, noCpu, PARTS, type Cpu } from './processes.ts';
import { alone, compared, percentile, sum, type Row, type Target } from './report.ts';
import { startProduct, type Product, type ProductPlace, type System } from './systems.ts';

const CALLERS = 50;

type Times = Record<'acceptMs' | 'terminalMs', number[]>;
const percentileRows =
  (ours: Times, theirs: Times) =>
  (measure: string, of: keyof Times, p: number, target?: Target): Row =>
    compared(measure, 'ms', percentile(ours[of], p), percentile(theirs[of], p), target);

/** @param sizes runs of both systems: blocks times perBlock */
export async function latency(
  product: System,
  bare: System,
  sizes: { blocks: number; perBlock: number },
): Promise<Row[]> {
  const [ours, theirs] = take(await oneAfterAnother([product, bare], sizes), 2);
  const row = percentileRows(ours, theirs);
  const runs = sizes.blocks * sizes.perBlock;
  return [
    row('Accept, p50', 'acceptMs', 50, { atMost: 1.5 }),
    row('Accept, p99', 'acceptMs', 99),
    row('Accept to terminal, p50', 'terminalMs', 50, { atMost: 0.8, stretch: 0.7 }),
    row('Accept to terminal, p99', 'terminalMs', 99, { atMost: 1 }),
    ...cpuRows('CPU a run, one after another', { ...ours, runs }, { ...theirs, runs }, { atMost: 0.85 }),
  ];
}

/** Beside the least that records anything, which is started and served in the quickest way that Temporal has. */
export async function lean(
  product: System,
  least: System,
  sizes: { blocks: number; perBlock: number },
): Promise<Row[]> {
  const [ours, theirs] = take(await oneAfterAnother([product, least], sizes), 2);
  const row = percentileRows(ours, theirs);
  const runs = sizes.blocks * sizes.perBlock;
  return [
    row('Accept, p50; beside a lean workflow', 'acceptMs', 50),
    row('Accept to terminal, p50; beside a lean workflow', 'terminalMs', 50),
    ...cpuRows('CPU a run; beside a lean workflow', { ...ours, runs }, { ...theirs, runs }, { atMost: 1.4 }),
  ];
}

export async function load(product: System, bare: System, sizes: { rounds: number; loadMs: number }): Promise<Row[]> {
  const phase = { callers: CALLERS, ms: sizes.loadMs };
  const rounds: [Throughput, Throughput][] = [];
  for (let round = 0; round < sizes.rounds; round++) {
    rounds.push([await underLoad(product, phase), await underLoad(bare, phase)]);
  }
  const [ours, theirs] = [together(rounds.map(([one]) => one)), together(rounds.map(([, one]) => one))];
  const row = (measure: string, p: number) =>
    compared(measure, 'ms', percentile(ours.terminalMs, p), percentile(theirs.terminalMs, p));
  return [
    compared(`Completed runs, ${CALLERS} callers`, '/s', ours.rate, theirs.rate, { atLeast: 1.2 }),
    compared('In the first third of that time', '/s', first(ours.thirds), first(theirs.thirds)),
    compared('In the last third', '/s', itemAt(ours.thirds, 2), itemAt(theirs.thirds, 2)),
    alone('Last third to first', 'x', itemAt(ours.thirds, 2) / first(ours.thirds), { atLeast: 1 }),
    row(`Accept to terminal, ${CALLERS} callers, p50`, 50),
    row(`Accept to terminal, ${CALLERS} callers, p99`, 99),
    ...cpuRows(`CPU a run, ${CALLERS} callers`, ours, theirs, { atMost: 0.85 }),
  ];
}

function together(rounds: readonly Throughput[]) {
  const cpu = noCpu();
  for (const round of rounds) addCpu(cpu, noCpu(), round.cpu);
  const total = (of: (round: Throughput) => number) => sum(rounds.map(of));
  return {
    rate: total((round) => round.inTime) / (total((round) => round.ms) / 1_000),
    thirds: [0, 1, 2].map((third) => total((round) => itemAt(round.thirds, third)) / rounds.length),
    terminalMs: rounds.flatMap((round) => round.terminalMs),
    runs: total((round) => round.runs),
    clientCpuMs: total((round) => round.clientCpuMs),
    cpu,
  };
}

interface Spent {
  cpu: Cpu;
  clientCpuMs: number;
  runs: number;
}

export function cpuRows(measure: string, ours: Spent, theirs: Spent, target?: Target): Row[] {
  return [
    compared(measure, 'ms', ours.cpu.total / ours.runs, theirs.cpu.total / theirs.runs, target),
    ...PARTS.map((part) =>
      theirs.cpu[part] === 0
        ? alone(`of which ${part}`, 'ms', ours.cpu[part] / ours.runs)
        : compared(`of which ${part}`, 'ms', ours.cpu[part] / ours.runs, theirs.cpu[part] / theirs.runs),
    ),
    compared('beside it the benchmark itself', 'ms', ours.clientCpuMs / ours.runs, theirs.clientCpuMs / theirs.runs),
  ];
}

/** Memory as the load left it, then what it costs to do nothing. */
export async function resources(
  product: System,
  bare: System,
  { folder, settleMs, idleMs }: { folder: string; settleMs: number; idleMs: number },
): Promise<Row[]> {
  // The floor keeps no record. One that did would need a database, so an idle one stands in.
  const database = await startPostgres({ dataDir: join(folder, 'idle-postgres') });
  endWithUs(database.pid);
  await sleep(settleMs);
  const memory = [memoryOf(product.roots), memoryOf([...bare.roots, database.pid])] as const;
  await database.stop();

  await sleep(settleMs);
  const systems = [product, bare];
  const before = systems.map(({ roots }) => cpuOf(roots));
  const from = performance.now();
  await sleep(idleMs);
  const ms = performance.now() - from;
  const [ours, theirs] = take(
    systems.map(({ roots }, i) => (100 * (cpuOf(roots).total - itemAt(before, i).total)) / ms),
    2,
  );
  return [
    compared('Memory after the load; bare: with a database', 'MB', ...memory, { atMost: 1.5 }),
    alone('CPU when idle', '% of a core', ours, { below: 4 }),
    alone('the same of bare, for comparison', '% of a core', theirs),
  ];
}

/** On data that is there already: the process itself, and the way a person starts it. */
export async function secondStarts(place: ProductPlace, count: number): Promise<Row[]> {
  const times = { node: [] as number[], npm: [] as number[] };
  for (let i = 0; i < count; i++) {
    for (const command of ['node', 'npm'] as const) {
      const product = await startProduct(place, command);
      times[command].push(product.readyMs / 1_000);
      await product.stop();
    }
  }
  return [
    alone(`Second start, slowest of ${count}`, 's', Math.max(...times.node), { below: 4 }),
    alone('the same by npm start', 's', Math.max(...times.npm), { below: 4 }),
  ];
}

export async function reads(product: Product, { records, count }: { records: number; count: number }): Promise<Row[]> {
  const { data } = await product.read('/runs?limit=500');
  const list = await timeCalls(count, () => product.read('/runs?limit=50'));
  const detail = await timeCalls(count, (i) =>
    product.read(`/runs/${itemAt(data, (i * 7) % data.length).run_id}/detail`),
  );
  const of = `${records.toLocaleString('en')} runs`;
  return [
    alone(`List of 50 among ${of}, p50`, 'ms', percentile(list, 50)),
    alone(`List of 50 among ${of}, p99`, 'ms', percentile(list, 99), { below: 15 }),
    alone(`Detail among ${of}, p50`, 'ms', percentile(detail, 50)),
    alone(`Detail among ${of}, p99`, 'ms', percentile(detail, 99), { below: 5 }),
  ];
}
