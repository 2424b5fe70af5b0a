/**
 * `npm run bench`: the product beside a bare Temporal workflow, in one run on one machine, so that what counts are the
 * ratios. The two take turns and the one that is not measured idles. Progress goes to stderr, the report to stdout.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { quietPort } from '../support/processes/ports.ts';
import { fillRuns } from './fill.ts';
import { live } from './live.ts';
import { underLoad } from './load.ts';
import { memory } from './memory.ts';
import { model } from './model-calls.ts';
import { languages } from './memory-languages.ts';
import { removeWithUs } from './processes.ts';
import { projects } from './projects.ts';
import { alone, machine, markdown, type Row } from './report.ts';
import { latency, lean, load, reads, resources, secondStarts } from './sections.ts';
import { turns } from './turns.ts';
import { waits } from './waits.ts';
import { startFloor, startProduct } from './systems.ts';

const USAGE = `Usage: npm run bench -- [options]
  --quick           short phases: shows that it works, its figures mean little
  --only <section>  latency, lean, load, resources, projects, start, reads, live, waits, memory, model, turns or languages; may be given several times
  --out <file>      write the Markdown report there too
  --json            print JSON instead of Markdown`;

const FULL = {
  warmUpMs: 5_000,
  blocks: 20,
  perBlock: 20,
  rounds: 2,
  loadMs: 30_000,
  settleMs: 5_000,
  idleMs: 20_000,
  starts: 3,
  reads: 500,
  pipelines: 10,
  together: 50,
  share: 1,
  searches: 200,
  gates: 25,
  turnRuns: 25,
};
const QUICK: typeof FULL = {
  warmUpMs: 2_000,
  blocks: 5,
  perBlock: 10,
  rounds: 1,
  loadMs: 6_000,
  settleMs: 1_000,
  idleMs: 3_000,
  starts: 1,
  reads: 100,
  pipelines: 2,
  together: 5,
  share: 0.1,
  searches: 40,
  gates: 10,
  turnRuns: 5,
};
const RECORDS = 10_000;
/** Nothing takes this long unless a run hangs. */
const GIVE_UP_MS = 20 * 60_000;

const OF_PRODUCT = ['latency', 'lean', 'load', 'resources', 'projects', 'start', 'reads'];
const SECTIONS = [...OF_PRODUCT, 'live', 'waits', 'memory', 'model', 'turns', 'languages'];
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: SECTIONS },
    out: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const wants = (...sections: string[]) => sections.some((section) => options.only.includes(section));
const sizes = options.quick ? QUICK : FULL;

const unknown = options.only.find((section) => !SECTIONS.includes(section));
if (options.help || unknown) {
  say(unknown ? `there is no section ${unknown}\n${USAGE}` : USAGE);
  process.exit(unknown ? 2 : 0);
}
setTimeout(() => {
  say('gave up: a run does not end');
  process.exit(1);
}, GIVE_UP_MS).unref();

const about = { ...machine(), quick: options.quick };
const rows = await measure();
const report = markdown(rows, about);
process.stdout.write(options.json ? `${JSON.stringify({ ...about, rows }, null, 2)}\n` : report);
if (options.out) await writeFile(options.out, report);
// What still runs ends with this process.
process.exit();

async function measure(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-bench-'));
  removeWithUs(folder);
  const rows: Row[] = [];
  const section = async (name: string, work: () => Promise<Row[]>) => {
    if (!wants(name)) return;
    say(`Measuring: ${name}`);
    rows.push(...(await work()));
  };

  await section('waits', () => waits(sizes));
  await section('model', () => model(sizes));
  await section('turns', () => turns({ ...sizes, folder }));
  await section('memory', () => memory({ ...sizes, folder, say }));
  await section('languages', () => languages({ folder, say }));
  await section('live', async () => {
    const limits = { LIVE_STREAMS: '2000', LIVE_STREAMS_PER_WORKSPACE: '2000', LIVE_STREAM_LIFE: '1h' };
    const place = { dataDir: join(folder, 'live'), port: await quietPort(), settings: limits };
    const watched = await startProduct(place);
    return live(watched, sizes).finally(() => watched.stop());
  });
  if (!wants(...OF_PRODUCT)) return rows;

  say('Starting');
  const place = { dataDir: join(folder, 'product'), port: await quietPort() };
  const product = await startProduct(place);
  rows.push(alone('First start, with the database made', 's', product.readyMs / 1_000));

  if (wants('lean')) {
    const least = await startFloor(join(folder, 'lean'), 'lean');
    for (const system of [product, least]) await underLoad(system, { callers: 10, ms: sizes.warmUpMs });
    await section('lean', () => lean(product, least, sizes));
    await least.stop();
  }
  if (wants('latency', 'load', 'resources', 'projects')) {
    const bare = await startFloor(join(folder, 'bare'));
    rows.push(alone('the start of bare, for comparison', 's', bare.readyMs / 1_000));
    say('Warming up');
    for (const system of [product, bare]) await underLoad(system, { callers: 10, ms: sizes.warmUpMs });
    await section('latency', () => latency(product, bare, sizes));
    await section('load', () => load(product, bare, sizes));
    await section('resources', () => resources(product, bare, { ...sizes, folder }));
    await section('projects', () => projects(product, bare, sizes));
    await bare.stop();
  }
  if (wants('start', 'reads')) {
    say(`Adding ${RECORDS} finished runs`);
    await underLoad(product, { callers: 1, ms: 1 });
    await product.stop();
    await fillRuns(place.dataDir, RECORDS);
    await section('start', () => secondStarts(place, sizes.starts));
    await section('reads', async () => reads(await startProduct(place), { records: RECORDS, count: sizes.reads }));
  }
  return rows;
}
