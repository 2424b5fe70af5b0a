/**
 * R12: the machine of the embedded service loses its power, at random moments: at work, while the service stops (with the
 * checkpoint of its database), while it starts, and after a restart. It goes on from what its disk had at that moment.
 * Every answer that was given holds, what was accepted ends once, and no file is empty or torn.
 */
import { sql } from 'drizzle-orm';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { rootOf } from '../../src/platform/core/causes.ts';
import { createBillingStore } from '../../src/resources/billing/store.ts';
import { runWorkflowId } from '../../src/resources/runs/model.ts';
import { mountLosableDisk, reasonAgainstLoops, type LosableDisk } from '../support/faults/losable-disk.ts';
import { untilSettled } from './embedded-settled.ts';
import { createEmbeddedService, type EmbeddedService } from './embedded-service.ts';
import { successRateOf } from './invariants.ts';
import { keepLogs } from './keep-logs.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { between, seeded, shuffled } from './random.ts';
import { isReadyWithin } from './ready.ts';
import { prove } from './report.ts';
import { startSink } from './sink.ts';
import { waitsOverApi } from './waits.ts';
import { KINDS, type Kind } from './workload-kinds.ts';
import { createWorkload, makeProofTenant, workloadSettings, type Workload } from './workload.ts';
import type { Database } from '../../src/platform/db/client.ts';

const DISK = 1_500 * 1_024 ** 2;
/** How long it may take to be ready again. */
const READY_MS = 120_000;
/** Until all that was accepted has ended: what Temporal lost in the middle is looked for each `LOST_WORK_INTERVAL`, 5 minutes. */
const RECOVERY_MS = 480_000;
/** Pieces of work whose credit is sold before they begin: only the service has its database while it runs. */
const SOLD = 2_000;
/** Each start after a power loss takes all the processor that a small machine has: a receiver may then answer late. */
const PATIENT = { WEBHOOK_TIMEOUT: '10s' };

interface Context {
  service: EmbeddedService<LosableDisk>;
  random: () => number;
}
/** Brings the service to a moment at which the power is lost. */
type Moment = (context: Context) => Promise<unknown>;

const MOMENTS: readonly { name: string; moment: Moment; times: number }[] = [
  { name: 'at work', moment: ({ random }) => wait(between(random, 3_000, 12_000)), times: 5 },
  {
    name: 'after a restart',
    async moment({ service, random }) {
      await service.end('SIGTERM');
      await startAgain(service);
      await wait(between(random, 1_000, 6_000));
    },
    times: 2,
  },
  {
    name: 'while it stops',
    async moment({ service, random }) {
      void service.end('SIGTERM');
      await wait(between(random, 0, 2_500));
    },
    times: 2,
  },
  {
    name: 'while it starts',
    async moment({ service, random }) {
      await service.end('SIGKILL');
      void service.start();
      await wait(between(random, 300, 4_000));
    },
    times: 1,
  },
];

async function startAgain(service: Context['service']): Promise<void> {
  if (!(await service.start())) throw new Error(`the service does not start: ${await service.lastWords()}`);
}

const prepare = async (db: Database) => {
  const tenant = await makeProofTenant(db);
  const billing = createBillingStore(db);
  const bought = { currency: 'USD', chargedCents: 500, creditUsdMicros: 5_000_000, fxUsdIdr: '1' } as const;
  for (let i = 1; i <= SOLD; i++) {
    await billing.addTopup({ sessionId: `cs_w${i}`, customerId: tenant.customerId, ...bought });
  }
  return tenant;
};

/** Takes the place of the sale. @throws Error for a piece of work whose credit was not sold */
async function requireSold({ sessionId }: { sessionId: string }): Promise<void> {
  if (Number(sessionId.replace('cs_w', '')) > SOLD) throw new Error(`${sessionId} was not sold`);
}

/** @returns files that a power loss left without content, or torn */
async function damagedFiles(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(directory, { recursive: true })) {
    // Postgres has empty files of its own; whether its content is whole is asked with SQL. Locks hold nothing, and what was
    // never finished has a name that says so.
    if (
      /^(postgres\/|lost\+found)|\.lock(-journal)?$|\.tmp$|\.\d+$|^temporal\.db-|^\.written-by|^postgres\.unfinished/.test(
        name,
      )
    )
      continue;
    const path = join(directory, name);
    const { size } = await stat(path);
    if (size === 0) found.push(`${name} is empty`);
    else if (name.endsWith('.json') && !isJson(await readFile(path, 'utf8'))) found.push(`${name} is torn`);
  }
  return found;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads every row of every table with all its values. @returns what cannot be read */
async function unreadableTables(db: Database): Promise<string[]> {
  const tables = await db.rows<{ name: string }>(sql`
    select schemaname || '.' || quote_ident(tablename) as name from pg_tables where schemaname in ('public', 'pg_catalog')`);
  const found: string[] = [];
  for (const { name } of tables) {
    await db
      .rows(sql`select count(*), sum(hashtext(t::text)) from ${sql.raw(name)} t`)
      .catch((error: unknown) => found.push(`${name} cannot be read: ${rootOf(error)?.message}`));
  }
  return found;
}

/** Runs that were accepted and that Temporal has never heard of, or has forgotten; housekeeping finds them. */
async function countForgotten({ accepted, temporal }: Workload): Promise<number> {
  let forgotten = 0;
  for (const id of [...accepted.runs.keys()].slice(-RECENT_RUNS)) {
    const isKnown = await temporal.client.workflow
      .getHandle(runWorkflowId(id))
      .describe()
      .then(
        () => true,
        (error: Error) => error.name !== 'WorkflowNotFoundError',
      );
    if (!isKnown) forgotten += 1;
  }
  return forgotten;
}
const RECENT_RUNS = 30;

/** Stores a file of a few kilobytes or of some hundred. */
const uploading =
  (ledger: Ledger, url: string, session: string): Kind =>
  async ({ name, random }) => {
    const bytes = `${name} `.repeat(between(random, 1, 50_000));
    const form = new FormData();
    form.append('files', new Blob([bytes], { type: 'text/plain' }), `${name}.txt`);
    const headers = { cookie: `service_session=${session}` };
    const path = `${url}/api/v1/cp/v1/files/upload`;
    const reply = await fetch(path, { method: 'POST', headers, body: form }).catch(() => undefined);
    const body = await reply?.json().catch(() => undefined);
    if (reply?.status === 201) ledger.noteUpload((body as { data: { id: string }[] }).data[0]?.id ?? '', bytes);
  };

const reason = await reasonAgainstLoops();
if (reason !== undefined) {
  process.stdout.write(`SKIPPED: nothing is proved here about power losses: no loop mounts: ${reason}\n`);
  process.exit(0);
}

await prove(
  { name: 'power', claim: 'R12', title: 'The machine of the embedded service loses its power' },
  async ({ seed, small, say, repeat }) => {
    const random = seeded(seed);
    const sink = await startSink();
    const mount = (directory: string) => mountLosableDisk(directory, DISK);
    const settings = { ...workloadSettings(sink), ...PATIENT };
    const service = await createEmbeddedService(mount, settings, prepare);
    const tenant = service.prepared;
    const violations: string[] = [];
    await startAgain(service);
    const { url } = service.replica;
    const ledger = createLedger({ call: (request) => workload.call(request), random });
    const workload: Workload = await createWorkload({
      target: { replicas: [service.replica], temporalAddress: service.temporalAddress },
      tenant,
      sink,
      random,
      waits: waitsOverApi,
      billing: { addTopup: requireSold },
      // Each power loss interrupts all that is open, and an interrupted call has only so many attempts.
      perSecond: 2,
      maxOpen: 12,
      onReply: ledger.note,
      kinds: [...KINDS, [uploading(ledger, url, tenant.session), 4]],
    });
    say('everything is up; work begins');
    workload.begin();

    const moments = MOMENTS.flatMap((each) =>
      Array<typeof each>(small ? Math.min(1, each.times) : each.times).fill(each),
    );
    const done = new Map<string, number>();
    let forgotten = 0;
    let longestBackMs = 0;
    for (const [i, { name, moment }] of shuffled(random, moments).entries()) {
      await wait(between(random, 6_000, 15_000));
      say(`${i + 1} of ${moments.length}: the power is lost ${name}`);
      workload.faultBegins();
      const before = await service.pids();
      await moment({ service, random });
      await service.disk.losePower(async () => [...new Set([...before, ...(await service.pids())])]);
      await service.end('SIGKILL');
      violations.push(...(await damagedFiles(service.disk.inside)).map((what) => `${name}: ${what}`));
      const from = Date.now();
      await startAgain(service);
      if (!(await isReadyWithin(READY_MS, url))) violations.push(`${name}: not ready after ${READY_MS / 1_000} s`);
      longestBackMs = Math.max(longestBackMs, Date.now() - from);
      forgotten += await countForgotten(workload);
      violations.push(...(await ledger.broken({ all: false })).map((what) => `${name}: ${what}`));
      workload.faultEnds();
      done.set(name, (done.get(name) ?? 0) + 1);
    }
    say('the power stays');
    await workload.finish();

    const startedAt = Date.now();
    const { did, found } = await untilSettled(service, workload, sink, say, RECOVERY_MS);
    const settledMs = Date.now() - startedAt;
    violations.push(...found, ...service.tooManyWriters, ...(await ledger.broken({ all: true })));
    violations.push(...(await service.whileStopped(unreadableTables)));
    const bad = [...workload.calls.bad].map(([what, count]) => `${what} (${count})`).join(', ');
    if (violations.length > 0) say(`the log is in ${await keepLogs(service.folder, `power-${seed}`)}`);
    await service.close();
    return {
      did: {
        'power losses': moments.length,
        ...Object.fromEntries([...done].sort().map(([name, count]) => [`- ${name}`, count])),
        ...ledger.counts(),
        'runs that Temporal had lost, found by housekeeping': forgotten,
        ...did,
        'bad calls outside faults': bad || 0,
        'longest until ready again': `${(longestBackMs / 1_000).toFixed(1)} s`,
        'settled after': `${(settledMs / 1_000).toFixed(1)} s`,
      },
      successRate: successRateOf(workload),
      violations: violations.map((what) => ({ what, repeat })),
    };
  },
);
