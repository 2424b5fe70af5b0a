/** What the specification promises of a service whose network is broken, asked for again and again while it is. */
import { setTimeout as wait } from 'node:timers/promises';
import { present } from '../../src/platform/core/present.ts';
import type { Answer } from '../support/service/service.ts';
import type { Deployment, Replica } from '../support/processes/deployment.ts';
import type { Fault } from '../support/faults/toxiproxy.ts';
import type { Link } from './network.ts';
import { pick } from './random.ts';
import type { Workload } from './workload.ts';

/** What needs Temporal says within this that it is away. */
const RUNTIME_MS = 5_000;
/** What needs Postgres says within this that it is away: a place in the pool, a connection, a statement. */
const DATABASE_MS = 30_000;
/** A busy machine's own delay, which is not the service's. */
const LEEWAY_MS = 500;

interface UnderFault {
  link: Link;
  fault: Fault;
  affected: readonly Replica[];
  lastsMs: number;
}

interface PromiseOptions {
  deployment: Deployment;
  workload: Workload;
  random: () => number;
}

interface Asked {
  status: number;
  detail: unknown;
  tookMs: number;
}

export function createPromises({ deployment, workload: { customerId, refused }, random }: PromiseOptions) {
  const violations: string[] = [];
  const did: Record<string, number | string> = { faults: 0, 'refused as unreachable': 0, 'reads without Temporal': 0 };
  const longest = { runtime: 0, database: 0 };
  let probes = 0;
  const { call } = probesOf(deployment);

  /** Asks until the fault has lasted for its time. */
  async function during({ link, fault, affected, lastsMs }: UnderFault): Promise<void> {
    did.faults = Number(did.faults) + 1;
    const until = Date.now() + lastsMs;
    const isCut = fault.kind === 'down' || fault.kind === 'silence' || fault.kind === 'reset';
    while (Date.now() < until) {
      if (isCut && link === 'api-temporal') await withoutTemporal(fault, pick(random, affected));
      else if (isCut && link === 'api-postgres') await withoutPostgres(fault, pick(random, affected), until);
      await wait(Math.max(0, Math.min(1_000, until - Date.now())));
    }
  }

  /** A route that needs it says so in time and changes nothing; what Postgres alone can answer goes on. */
  async function withoutTemporal({ kind }: Fault, api: Replica): Promise<void> {
    const name = `probe${++probes}`;
    const begun = await call(api, 'POST', '/v1/runs', { agent: 'assistant', prompt: `This is ${name}. Never mind.` });
    longest.runtime = Math.max(longest.runtime, begun.tookMs);
    if (begun.status === 502) {
      refused.add(name);
      count('refused as unreachable');
    }
    // Whoever asked before the wire was cut everywhere may have been in time.
    if (begun.status !== 502 && begun.status !== 201) say(`POST /v1/runs answered ${told(begun)}`);
    if (begun.tookMs > RUNTIME_MS + LEEWAY_MS) say(`POST /v1/runs took ${Math.round(begun.tookMs)} ms`);
    for (const path of [
      '/v1/runs?limit=5',
      '/v1/projects?limit=5',
      '/v1/workflows',
      '/v1/webhook-deliveries?limit=5',
    ]) {
      const read = await call(api, 'GET', path);
      count('reads without Temporal');
      if (read.status !== 200) say(`GET ${path} answered ${told(read)}`);
    }

    function say(what: string): void {
      violations.push(`${api.name}, its Temporal ${kind} (${customerId}): ${what}`);
    }
  }

  /** Nothing hangs, and nothing is said to be our own fault; the process says that it lives, and is not ready. */
  async function withoutPostgres({ kind }: Fault, api: Replica, until: number): Promise<void> {
    const asked = await Promise.all([
      call(api, 'GET', '/v1/runs?limit=5'),
      call(api, 'GET', '/v1/projects?limit=5'),
      call(api, 'GET', '/healthz', undefined, true),
    ]);
    const alive = present(asked.pop());
    if (alive.status !== 200) say(`GET /healthz answered ${told(alive)}`);
    for (const read of asked) {
      longest.database = Math.max(longest.database, read.tookMs);
      if (read.tookMs > DATABASE_MS + LEEWAY_MS) say(`a read took ${Math.round(read.tookMs)} ms`);
      const isOver = Date.now() >= until;
      if (read.status !== 503 && !(read.status === 200 && isOver)) say(`a read answered ${told(read)}`);
      else count('refused as unreachable');
    }

    function say(what: string): void {
      violations.push(`${api.name}, its Postgres ${kind}: ${what}`);
    }
  }

  const count = (what: string) => (did[what] = Number(did[what]) + 1);
  return {
    violations,
    during,
    get did() {
      return {
        ...did,
        'longest answer without Temporal': `${Math.round(longest.runtime)} ms`,
        'longest answer without Postgres': `${Math.round(longest.database)} ms`,
      };
    },
  };
}

const told = ({ status, detail, tookMs }: Asked) =>
  `${status} ${JSON.stringify(detail)} after ${Math.round(tookMs)} ms`;

function probesOf(deployment: Deployment) {
  return {
    /** On the control plane, as the workspace that owns the deployment. */
    async call(api: Replica, method: string, path: string, body?: unknown, isBare = false): Promise<Asked> {
      const startedAt = performance.now();
      const answer: Promise<Pick<Answer, 'status' | 'body'>> = isBare
        ? fetch(`${api.url}${path}`).then(({ status }) => ({ status, body: {} }))
        : deployment.cp(method, path, body, api);
      const { status, body: said } = await answer.catch((error: unknown) => ({
        status: 0,
        body: { detail: String(error) },
      }));
      return { status, detail: said?.detail, tookMs: performance.now() - startedAt };
    },
  };
}
