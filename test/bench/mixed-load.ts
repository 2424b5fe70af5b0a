/**
 * `npm run bench:load`: two API and two worker processes above one native Postgres and one Temporal, under mixed traffic
 * of more and more callers; then at rest again, what one unit of each kind of work costs, and a bare workflow beside it.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seeded } from '../proof/random.ts';
import { deploy } from '../support/processes/deployment.ts';
import { countRequests, type Sample } from './mixed/client.ts';
import { inBackground } from './mixed/background.ts';
import { besideBare } from './mixed/bare.ts';
import { figuresOf, printed, type AtRest, type LoadReport, type Traffic } from './mixed/print.ts';
import { startReceiver } from './mixed/receiver.ts';
import { byKind, trafficStep, type StepResult } from './mixed/steps.ts';
import { makeTemplate, startSchedules, subscribe, underTraffic } from './mixed/traffic.ts';
import { unitCosts } from './mixed/unit-costs.ts';
import { insideOf, memoryByProcess, TALKATIVE } from './mixed/usage.ts';
import { removeWithUs } from './processes.ts';
import { machine } from './report.ts';

const FIGURES = fileURLToPath(new URL('../../docs/figures/load.json', import.meta.url));
const CALLERS = [8, 16, 32, 64];
const USAGE = `Usage: npm run bench:load -- [options]
  --minutes <n>     of traffic, in four steps of ${CALLERS.join(', ')} callers; 5 unless said otherwise
  --callers <list>  other steps, such as 4,8
  --quick           shows that it works, its figures mean little
  --only <section>  traffic, units or bare; may be given several times
  --seed <n>        of what callers choose to do
  --profile         writes CPU profiles of all threads, one for each phase, and says where
  --record          keeps what a capacity plan needs in docs/figures/load.json
  --out <file>      write the Markdown report there too
  --json            print JSON instead of Markdown`;
const SECTIONS = ['traffic', 'units', 'bare'];

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    callers: { type: 'string', default: CALLERS.join(',') },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: SECTIONS },
    seed: { type: 'string', default: '1' },
    profile: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    out: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const unknown = options.only.find((section) => !SECTIONS.includes(section));
if (options.help || unknown) {
  say(unknown ? `there is no section ${unknown}\n${USAGE}` : USAGE);
  process.exit(unknown ? 2 : 0);
}
const wants = (section: string) => options.only.includes(section);
const callers = options.callers.split(',').map(Number);
const stepMs = ((options.quick ? 0.5 : Number(options.minutes)) * 60_000) / callers.length;
const sizes = options.quick
  ? { warmUpMs: 10_000, restMs: 5_000, runs: 40, projects: 6, bareMs: 5_000 }
  : { warmUpMs: 60_000, restMs: 30_000, runs: 400, projects: 40, bareMs: 30_000 };

const profiles = join(tmpdir(), `aos-profiles-${process.pid}`);
if (options.profile) await mkdir(profiles);
const receiver = await startReceiver();
say('Starting');
const deployment = await deploy({
  settings: {
    ...TALKATIVE,
    WEBHOOK_ALLOW_HTTP: 'true',
    EGRESS_ALLOWLIST: receiver.hostAndPort,
    ...(options.profile && { BENCH_PROFILES: profiles }),
  },
});
const client = countRequests(deployment);
await makeTemplate(deployment);

const about = { ...machine(), quick: options.quick };
const report: LoadReport = { ...about, ...(await measure()) };
const markdown = printed(report);
process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : markdown);
if (options.out) await writeFile(options.out, markdown);
if (options.profile) say(`Profiles: ${profiles}`);
if (options.record) await mkdir(dirname(FIGURES), { recursive: true });
if (options.record) await writeFile(FIGURES, `${JSON.stringify(figuresOf(report), rounded, 2)}\n`);
// What still runs ends with this process.
process.exit();

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(2)) : value;
}

async function measure(): Promise<Pick<LoadReport, 'traffic' | 'units' | 'bare'>> {
  const report: Pick<LoadReport, 'traffic' | 'units' | 'bare'> = {};
  if (wants('bare')) {
    say('Beside a bare workflow');
    const folder = await mkdtemp(join(tmpdir(), 'aos-bench-'));
    removeWithUs(folder);
    report.bare = await besideBare(deployment, client, { folder, ms: sizes.bareMs });
  }
  if (wants('units')) report.units = await unitCosts(deployment, client, receiver, { ...sizes, say });
  if (wants('traffic')) {
    if (!wants('units')) await subscribe(deployment, receiver.url);
    report.traffic = await traffic();
  }
  return report;
}

async function traffic(): Promise<Traffic> {
  const random = seeded(Number(options.seed));
  await startSchedules(deployment);
  say('Warming up');
  await underTraffic(client, { callers: Math.max(...callers), ms: sizes.warmUpMs, random });
  const before = await atRest();
  const from = new Date();
  const steps: StepResult[] = [];
  const samples: Sample[] = [];
  for (const count of callers) {
    say(`${count} callers for ${Math.round(stepMs / 1_000)} s`);
    const step = await trafficStep(deployment, client, { callers: count, ms: stepMs, random });
    steps.push(step.result);
    samples.push(...step.samples);
  }
  const after = await atRest();
  return {
    steps,
    before,
    after,
    requests: byKind(
      samples,
      ({ kind }) => kind,
      ({ ms }) => ms,
    ),
    ...(await inBackground(deployment, receiver, from)),
  };
}

/** When what was asked for is done, and garbage is collected. */
async function atRest(): Promise<AtRest> {
  say('At rest');
  await sleep(sizes.restMs);
  const inside = await insideOf(deployment);
  return {
    liveBytes: Object.fromEntries(Object.entries(inside).map(([name, { liveBytes }]) => [name, liveBytes])),
    megabytes: memoryByProcess(deployment),
  };
}
