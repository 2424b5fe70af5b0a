/**
 * R4: many events to several subscribers over a whole deployment, one receiver failing three times in ten. What the
 * receiver saw, attempt by attempt, has to be what the log of deliveries says, and neither may break a promise.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../src/platform/core/present.ts';
import type { WebhookDeliveryRow } from '../../src/resources/webhook-subscriptions/contract.ts';
import { MAX_ATTEMPTS } from '../../src/resources/webhook-subscriptions/model.ts';
import { verifyWebhook } from '../../src/resources/webhook-subscriptions/signature.ts';
import { deploy, type Deployment } from '../support/processes/deployment.ts';
import { startWebhookReceiver, type Reaction } from '../support/fakes/webhook-receiver.ts';
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
    name: 'webhooks',
    claim: 'R4',
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
      const { secret } = present(endpoints.get(name));
      const isSigned = verifyWebhook(secret, request.signature, request.body, { nowS: Date.now() / 1_000 });
      const { run_id: runId } = (JSON.parse(request.body) as { data: { run_id: string } }).data;
      present(seen.get(name)).push({ at: Date.now(), t: request.t, runId, reaction, isSigned });
      return reaction;
    });
    const deployment = await deploy({
      settings: {
        WEBHOOK_ALLOW_HTTP: 'true',
        EGRESS_ALLOWLIST: receiver.hostAndPort,
        WEBHOOK_RETRY_INITIAL: `${RETRY_INITIAL_S}s`,
        WEBHOOK_TIMEOUT: `${TIMEOUT_S}s`,
      },
    });
    say('2 APIs, 2 workers, native Postgres and Temporal are up');
    for (const name of NAMES) endpoints.set(name, await register(deployment, receiver.hostAndPort, name));

    const failing = new Set<string>();
    const runs: string[] = [];
    let deletedAtS = Infinity;
    await inPortions(events, async (n) => {
      const fails = random() < FAILING_RUNS;
      const { status, body } = await deployment.api('POST', '/v1/runs', {
        agent: 'writer',
        prompt: fails ? '[[fail-status:400]]' : 'Hello',
      });
      if (status !== 201) throw new Error(`run ${n} was not accepted: ${status} ${JSON.stringify(body)}`);
      runs.push(body.run_id);
      if (fails) failing.add(body.run_id);
      // In the middle of everything, with deliveries that wait for their next attempt.
      if (runs.length === Math.ceil(events / 2)) {
        await until(() => present(seen.get('deleted')).length > 0, PATIENCE_MS);
        const answer = await deployment.api('DELETE', `/v1/webhooks/${present(endpoints.get('deleted')).id}`);
        deletedAtS = Date.now() / 1_000;
        if (answer.status !== 204) throw new Error(`the endpoint was not deleted: ${answer.status}`);
        say(`${runs.length} runs accepted; one of the five endpoints is deleted`);
      }
    });
    say(`${runs.length} runs accepted, ${failing.size} of them to fail; waiting for the last attempts`);
    const logs = await endedLogs(deployment, endpoints, { runs: runs.length, failing: failing.size });
    const runOf = await runsByDelivery(deployment);
    await deployment.close();
    await receiver.close();

    const violations: Violation[] = [];
    const slow = { answeredLate: 0, neverArrived: 0 };
    const violated = (what: string) => violations.push({ what, repeat });
    for (const name of NAMES) {
      const { answeredLate, neverArrived } = judge(name, {
        log: present(logs.get(name)),
        seen: present(seen.get(name)),
        runOf,
        violated,
        deletedAtS,
        expected: (SUBSCRIBERS[name].events as string[]).includes('*') ? runs : [...failing],
      });
      slow.answeredLate += answeredLate;
      slow.neverArrived += neverArrived;
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
        'answered too late (busy machine)': slow.answeredLate,
        'never arrived (busy machine)': slow.neverArrived,
      },
      violations,
    };
  },
);

function reactionOf(name: Name, random: () => number): Reaction {
  const { fails, answers } = SUBSCRIBERS[name] as { fails?: number; answers?: number };
  if (answers !== undefined) return answers;
  return random() < present(fails) ? itemAt(FAILURES, Math.floor(random() * FAILURES.length)) : 200;
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
): Promise<Map<Name, WebhookDeliveryRow[]>> {
  const logs = new Map<Name, WebhookDeliveryRow[]>();
  await until(async () => {
    for (const [name, { id }] of endpoints) logs.set(name, await logOf(deployment, id));
    return [...logs].every(
      ([name, rows]) =>
        // Of a deleted one: events after the deletion have no delivery at all.
        (name === 'deleted' ||
          rows.length >= ((SUBSCRIBERS[name].events as string[]).includes('*') ? runs : failing)) &&
        rows.every(({ status }) => status !== 'pending'),
    );
  }, PATIENCE_MS);
  return logs;
}

async function logOf(deployment: Deployment, endpointId: number): Promise<WebhookDeliveryRow[]> {
  const rows: WebhookDeliveryRow[] = [];
  for (let total = Infinity; rows.length < total;) {
    const path = `/v1/webhook-deliveries?endpoint=${endpointId}&limit=500&offset=${rows.length}`;
    const { body } = await deployment.cp('GET', path);
    const page = body as { data: WebhookDeliveryRow[]; meta: { total: number } };
    rows.push(...page.data);
    total = page.data.length === 0 ? 0 : page.meta.total;
  }
  return rows;
}

/** Which run a delivery tells of, which its log does not say. */
async function runsByDelivery({ db }: Deployment): Promise<Map<string, string>> {
  const rows = await db.rows<{ id: string; event_key: string }>(sql`select id, event_key from webhook_deliveries`);
  return new Map(rows.map(({ id, event_key: key }) => [id, key.replace(/^run:/, '')]));
}

interface Evidence {
  log: readonly WebhookDeliveryRow[];
  seen: readonly Seen[];
  /** Runs whose event this subscriber wants. */
  expected: readonly string[];
  runOf: ReadonlyMap<string, string>;
  deletedAtS: number;
  violated: (what: string) => void;
}

/** Attempts that a busy machine was too slow for: the answer came after the time that a receiver has, or never got there. */
interface Slow {
  answeredLate: number;
  neverArrived: number;
}

function judge(name: Name, { log, seen, expected, runOf, deletedAtS, violated }: Evidence): Slow {
  const slow = { answeredLate: 0, neverArrived: 0 };
  const byRun = Map.groupBy(seen, ({ runId }) => runId);
  for (const [runId, requests] of byRun) {
    const times = requests.map(({ t }) => t);
    if (new Set(times).size !== times.length) violated(`${name}: run ${runId}: attempts share a t: ${times.join()}`);
    if (requests.length > MAX_ATTEMPTS) violated(`${name}: run ${runId}: ${requests.length} attempts`);
    if (requests.some(({ isSigned }) => !isSigned)) violated(`${name}: run ${runId}: a signature is wrong`);
    // One that was on its way may arrive; one that was begun afterwards may not.
    const isLate = name === 'deleted' && requests.some(({ t }) => t > deletedAtS);
    if (isLate) violated(`deleted: run ${runId}: an attempt after the deletion`);
  }

  for (const { id, status, attempts } of log) {
    const about = `${name}: delivery ${id} of run ${runOf.get(id)}`;
    const codes = attempts.map(({ status_code: code }) => code);
    const isRight: Record<WebhookDeliveryRow['status'], boolean> = {
      pending: false,
      delivered: codes.at(-1) === 200,
      failed: name === 'gone' && codes.at(-1) === 404,
      exhausted: attempts.length === MAX_ATTEMPTS,
      dropped: name === 'deleted',
    };
    if (!isRight[status]) violated(`${about} is ${status} after ${codes.join()}`);
    if (codes.slice(0, -1).some((code) => code === 200 || code === 404))
      violated(`${about} went on after ${codes.join()}`);

    // The time of a signature is that of its attempt, so that each finds its other half.
    const requests = new Map((byRun.get(present(runOf.get(id))) ?? []).map((request) => [request.t, request]));
    for (const { ts, status_code: code, error, attempt } of attempts) {
      const t = Math.floor(Date.parse(String(ts)) / 1_000);
      const request = requests.get(t);
      requests.delete(t);
      const isTooSlow = code === null && /no answer within/.test(error ?? '');
      if (!request && isTooSlow) slow.neverArrived += 1;
      else if (!request) violated(`${about}: attempt ${attempt} is in the log as ${code ?? error} and was not seen`);
      else if (code === null && codeOf(request.reaction) !== null && isTooSlow) slow.answeredLate += 1;
      else if (code !== codeOf(request.reaction)) {
        violated(
          `${about}: attempt ${attempt} is in the log as ${code ?? error}, and the answer was ${request.reaction}`,
        );
      }
    }
    // One that was in flight at the deletion was cut off.
    if (requests.size > 0 && status !== 'dropped') violated(`${about}: ${requests.size} attempts are not in the log`);
  }

  if (name !== 'deleted') {
    const told = new Set(log.map(({ id }) => runOf.get(id)));
    const missing = expected.filter((runId) => !told.has(runId));
    if (missing.length > 0) violated(`${name}: ${missing.length} events have no delivery: ${missing[0]}, ...`);
    if (log.length !== expected.length) violated(`${name}: ${log.length} deliveries for ${expected.length} events`);
  }
  return slow;
}

/** As a log has it; null where no answer came. */
function codeOf(reaction: Reaction): number | null {
  return typeof reaction === 'number' ? reaction : null;
}
