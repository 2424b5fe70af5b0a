/** What a deployment needs for so many runs a second, from measured figures: `npm run capacity -- --runs-per-second 1000` */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { n, planCapacity, type Demand, type Figures } from './capacity-plan.ts';

const FIGURES = fileURLToPath(new URL('../../docs/figures/load.json', import.meta.url));
const USAGE = `Usage: npm run capacity -- [options]
  --runs-per-second <n>     100 unless said otherwise
  --utilization <0..1>      how busy a core is planned to be; 0.6
  --pool-size <n>           DATABASE_POOL_SIZE; 10
  --temporal-retention <d>  days that the namespace keeps histories; 7
  --kept <d>                days that Postgres keeps what a run leaves; 90
  --figures <file>          of another bench:load -- --record
  --json                    print JSON`;

const { values: options } = parseArgs({
  options: {
    'runs-per-second': { type: 'string', default: '100' },
    utilization: { type: 'string', default: '0.6' },
    'pool-size': { type: 'string', default: '10' },
    'temporal-retention': { type: 'string', default: '7' },
    kept: { type: 'string', default: '90' },
    figures: { type: 'string', default: FIGURES },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const demand: Demand = {
  runsPerSecond: Number(options['runs-per-second']),
  utilization: Number(options.utilization),
  poolSize: Number(options['pool-size']),
  temporalRetentionDays: Number(options['temporal-retention']),
  keptDays: Number(options.kept),
};
const isBad = Object.values(demand).some((value) => !(value > 0)) || demand.utilization > 1;
if (options.help || isBad) {
  process.stderr.write(isBad ? `numbers above 0, please, and a utilization of at most 1\n${USAGE}\n` : `${USAGE}\n`);
  process.exit(isBad ? 2 : 0);
}

const figures = JSON.parse(await readFile(options.figures, 'utf8')) as Figures;
const lines = planCapacity(figures, demand);
if (options.json) {
  process.stdout.write(
    `${JSON.stringify({ figures: { date: figures.date, machine: figures.machine }, demand, lines }, null, 2)}\n`,
  );
} else {
  const rows = lines.map(({ what, value, unit, formula }) => [what, n(value), unit, formula]);
  const width = (column: number) => Math.max(...rows.map((row) => itemAt(row, column).length));
  const [a, b, c] = [width(0), width(1), width(2)];
  process.stdout.write(
    [
      `For ${n(demand.runsPerSecond)} runs a second, by figures of ${figures.date} (${figures.machine}):\n`,
      ...rows.map(([what, value, unit, formula]) =>
        [present(what).padEnd(a), present(value).padStart(b), present(unit).padEnd(c), `= ${formula}`].join('  '),
      ),
      '\nOf a run of one turn without tools. Add what models and tools take: waiting costs no CPU, but memory and sockets.',
      'Measure your own mix: npm run bench:load -- --record, then --figures.\n',
    ].join('\n'),
  );
}
