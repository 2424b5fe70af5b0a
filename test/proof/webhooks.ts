/**
 * R4: many events to several subscribers over a whole deployment, one receiver failing three times in ten. What the
 * receiver saw, attempt by attempt, has to be what the log of deliveries says, and neither may break a promise.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryRow } from '../../src/resources/webhook-subscriptions/contract.ts';
import { MAX_ATTEMPTS } from '../../src/resources/webhook-subscriptions/model.ts';
import { verifyWebhook } from '../../src/resources/webhook-subscriptions/signature.ts';
import { deploy, type Deployment } from '../support/deployment.ts';
import { startWebhookReceiver, type Reaction } from '../support/webhook-receiver.ts';
import { seeded } from './random.ts';
import { prove, type Violation } from './report.ts';

/** Two of them get everything; the others what shows their promise best. */
const SUBSCRIBERS = {
  steady: { path: '/steady', events: ['*'], fails: 0.3 },
  shaky: { path: '/shaky', events: ['*'], fails: 0.3 },
  gone: { path: '/gone', events: ['run.failed'], answers: 404 },
  broken: { path: '/broken', events: ['run.failed'], answers: 500 },
  deleted: { path: '/deleted', events: ['*'], answers: 503 },
} satisfies Record<string, { path: string; events: string[]; fails?: number; answers?: number }>;
type Name = keyof typeof SUBSCRIBERS;
const NAMES = Object.keys(SUBSCRIBERS) as Name[];

/** Of the failures, each is as likely. */
const FAILURES: readonly Reaction[] = ['timeout', 500, 429, 'reset'];
/** Seconds are the unit of a signature's time, so a second is the shortest wait after which it has to differ. */
const RETRY_INITIAL_S = 1;
const TIMEOUT_S = 3;
/** Seven waits that double, each attempt as slow as it may be, and as much again for a busy machine. */
const PATIENCE_MS = 2 * 1_000 * (RETRY_INITIAL_S * (2 ** (MAX_ATTEMPTS - 1) - 1) + MAX_ATTEMPTS * TIMEOUT_S);
/** Of the runs; some more than one in twenty fails, so that its event goes to those that want failures. */
const FAILING_RUNS = 0.06;
const AT_ONCE = 20;

interface Seen {
  at: number;
  t: number;
  runId: string;
  reaction: Reaction;
  isSigned: boolean;
}

interface Endpoint {
  id: number;
  secret: string;
}

await prove(
  {
    ...{ name: 'webhooks', claim: 'R4' },
    title: 'each event is delivered within eight attempts or recorded as exhausted, and the log says what was seen',
  },
  async ({ seed, small, say, repeat }) => {
    const events = small ? 60 : 1_000;
    const random = seeded(seed);
    const seen = new Map<Name, Seen[]>(NAMES.map((name) => [name, []]));
    const endpoints = new Map<Name, Endpoint>();
    const receiver = await startWebhookReceiver((request) => {
      const name = NAMES.find((each) => SUBSCRIBERS[each].path === request.path);
      if (!name) return 404;
      const reaction = reactionOf(name, random);
      const { secret } = endpoints.get(name)!;
      const isSigned = verifyWebhook(secret, request.signature, request.body, { nowS: Date.now() / 1_000 });
      const { run_id: runId } = (JSON.parse(request.body) as { data: { run_id: string } }).data;
      seen.get(name)!.push({ at: Date.now(), t: request.t, runId, reaction, isSigned });
      return reaction;
    });
    const deployment = await deploy({
      settings: {
        ...{ WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort },
        ...{ WEBHOOK_RETRY_INITIAL: `${RETRY_INITIAL_S}s`, WEBHOOK_TIMEOUT: `${TIMEOUT_S}s` },
      },
    });
    say('2 APIs, 2 workers, native Postgres and Temporal are up');
    for (const name of NAMES) endpoints.set(name, await register(deployment, receiver.hostAndPort, name));

    const failing = new Set<string>();
    const runs: string[] = [];
    let calls = 0;
    let deletedAtS = Infinity;
    await inPortions(events, async (n) => {
      const fails = random() < FAILING_RUNS;
      const { status, body } = await deployment.api('POST', '/v1/runs', {
        ...{ agent: 'writer', prompt: fails ? '[[fail-status:400]]' : 'Hello' },
      });
      if (status !== 201) throw new Error(`run ${n} was not accepted: ${status} ${JSON.stringify(body)}`);
      calls += 1;
      runs.push(body.run_id);
      if (fails) failing.add(body.run_id);
      // In the middle of everything, with deliveries that wait for their next attempt.
      if (runs.length === Math.ceil(events / 2)) {
        await until(() => seen.get('deleted')!.length > 0, PATIENCE_MS);
        const answer = await deployment.api('DELETE', `/v1/webhooks/${endpoints.get('deleted')!.id}`);
        deletedAtS = Date.now() / 1_000;
        if (answer.status !== 204) throw new Error(`the endpoint was not deleted: ${answer.status}`);
        say(`${runs.length} runs accepted; one of the five endpoints is deleted`);
      }
    });
    say(`${runs.length} runs accepted, ${failing.size} of them to fail; waiting for the last attempts`);
    const logs = await endedLogs(deployment, endpoints, { runs: runs.length, failing: failing.size });
    await deployment.close();
    await receiver.close();

    const violations: Violation[] = [];
    const violated = (what: string) => violations.push({ what, repeat });
    for (const name of NAMES) {
      judge(name, {
        ...{ log: logs.get(name)!, seen: seen.get(name)!, violated, deletedAtS },
        expected: SUBSCRIBERS[name].events.includes('*') ? runs : [...failing],
      });
    }
    const all = [...logs.values()].flat();
    const countOf = (status: string) => all.filter((delivery) => delivery.status === status).length;
    return {
      did: {
        events: runs.length,
        subscribers: NAMES.length,
        deliveries: all.length,
        'attempts seen': [...seen.values()].flat().length,
        'failures answered': [...seen.values()].flat().filter(({ reaction }) => reaction !== 200).length,
        delivered: countOf('delivered'),
        exhausted: countOf('exhausted'),
        'failed at once (404)': countOf('failed'),
        'dropped (endpoint deleted)': countOf('dropped'),
        'most attempts for a delivery': Math.max(...all.map(({ attempt_count }) => attempt_count)),
        'runs accepted': calls,
      },
      violations,
    };
  },
);

function reactionOf(name: Name, random: () => number): Reaction {
  const { fails, answers } = SUBSCRIBERS[name] as { fails?: number; answers?: number };
  if (answers !== undefined) return answers;
  return random() < fails! ? FAILURES[Math.floor(random() * FAILURES.length)]! : 200;
}

async function register(deployment: Deployment, hostAndPort: string, name: Name): Promise<Endpoint> {
  const { path, events } = SUBSCRIBERS[name];
  const { status, body } = await deployment.api('POST', '/v1/webhooks', {
    url: `http://${hostAndPort}${path}`,
    events,
  });
  if (status !== 201) throw new Error(`${name} was not registered: ${JSON.stringify(body)}`);
  return body as Endpoint;
}

async function inPortions(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function until(isSo: () => boolean | Promise<boolean>, patienceMs: number): Promise<boolean> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(250)) if (await isSo()) return true;
  return false;
}

/** The whole log of each endpoint, when nothing waits any more or waiting has no use. */
async function endedLogs(
  deployment: Deployment,
  endpoints: ReadonlyMap<Name, Endpoint>,
  { runs, failing }: { runs: number; failing: number },
): Promise<Map<Name, DeliveryRow[]>> {
  const logs = new Map<Name, DeliveryRow[]>();
  await until(async () => {
    for (const [name, { id }] of endpoints) logs.set(name, await logOf(deployment, id));
    return [...logs].every(
      ([name, rows]) =>
        // Of a deleted one: events after the deletion have no delivery at all.
        (name === 'deleted' || rows.length >= (SUBSCRIBERS[name].events.includes('*') ? runs : failing)) &&
        rows.every(({ status }) => status !== 'pending'),
    );
  }, PATIENCE_MS);
  return logs;
}

async function logOf(deployment: Deployment, endpointId: number): Promise<DeliveryRow[]> {
  const rows: DeliveryRow[] = [];
  for (let total = Infinity; rows.length < total;) {
    const path = `/v1/webhook-deliveries?endpoint=${endpointId}&limit=500&offset=${rows.length}`;
    const { body } = await deployment.cp('GET', path);
    const page = body as { data: DeliveryRow[]; meta: { total: number } };
    rows.push(...page.data);
    total = page.data.length === 0 ? 0 : page.meta.total;
  }
  return rows;
}

interface Evidence {
  log: readonly DeliveryRow[];
  seen: readonly Seen[];
  /** Runs whose event this subscriber wants. */
  expected: readonly string[];
  deletedAtS: number;
  violated: (what: string) => void;
}

function codeOf(reaction: Reaction): number | null {
  return typeof reaction === 'number' ? reaction : null;
}

function judge(name: Name, { log, seen, expected, deletedAtS, violated }: Evidence): void {
  const byRun = Map.groupBy(seen, ({ runId }) => runId);
  for (const [runId, requests] of byRun) {
    const times = requests.map(({ t }) => t);
    if (new Set(times).size !== times.length) violated(`${name}: run ${runId}: attempts share a t: ${times.join()}`);
    if (requests.length > MAX_ATTEMPTS) violated(`${name}: run ${runId}: ${requests.length} attempts`);
    if (requests.some(({ isSigned }) => !isSigned)) violated(`${name}: run ${runId}: a signature is wrong`);
    const takenAt = requests.findIndex(({ reaction }) => reaction === 200);
    if (takenAt >= 0 && takenAt < requests.length - 1) violated(`${name}: run ${runId}: sent again after a 200`);
    if (name === 'gone' && requests.length > 1) violated(`gone: run ${runId}: ${requests.length} attempts after a 404`);
    // One that was on its way may arrive; one that was begun afterwards may not.
    const late = requests.filter(({ t }) => t > deletedAtS);
    if (name === 'deleted' && late.length > 0) violated(`deleted: run ${runId}: an attempt after the deletion`);
  }
  if (name !== 'deleted') {
    const missing = expected.filter((runId) => !byRun.has(runId));
    if (missing.length > 0) violated(`${name}: no attempt was seen for ${missing.length} events: ${missing[0]}, ...`);
    if (log.length !== expected.length) violated(`${name}: ${log.length} deliveries for ${expected.length} events`);
  }
  for (const { id, status, attempts } of log) {
    const isRight: Record<DeliveryRow['status'], boolean> = {
      pending: false,
      delivered: attempts.at(-1)?.status_code === 200,
      failed: name === 'gone' && attempts.length === 1 && attempts[0]!.status_code === 404,
      exhausted: attempts.length === MAX_ATTEMPTS && attempts.every(({ status_code: code }) => code !== 200),
      dropped: name === 'deleted',
    };
    if (!isRight[status]) violated(`${name}: delivery ${id} is ${status} after ${attempts.length} attempts`);
  }
  // A delivery does not tell its run: compared are the sequences of answers, as often as each was seen.
  const told = log.map(({ attempts }) => attempts.map(({ status_code: code }) => code).join()).filter(Boolean);
  const found = [...byRun.values()].map((requests) => requests.map(({ reaction }) => codeOf(reaction)).join());
  // What was in flight at the deletion was cut off, and may be in the log or not.
  if (name !== 'deleted' && told.sort().join(';') !== found.sort().join(';')) {
    violated(`${name}: the log tells other answers than were given (${differenceOf(told, found)})`);
  }
}

/** Of two sorted lists, the first that is in one only. */
function differenceOf(told: readonly string[], found: readonly string[]): string {
  const at = told.findIndex((text, i) => text !== found[i]);
  return `${told.length} told, ${found.length} seen, first difference: ${told[at] ?? 'none'} told, ${found[at] ?? 'none'} seen`;
}
