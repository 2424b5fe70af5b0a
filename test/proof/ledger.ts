/** Every answer that the service gave, and whether it still holds: for the proof of power losses. */
import { shuffled } from './random.ts';
import type { Reply, Request } from './workload.ts';

export interface Ledger {
  /** Notes what an answer promises. */
  note(request: Request, reply: Reply): void;
  /** A file that was answered with a 201. */
  noteUpload(id: string, bytes: string): void;
  /** @returns each answer that does not hold any more; without `all` the recent ones, and some of the others */
  broken(options: { all: boolean }): Promise<string[]>;
  counts(): Record<string, number>;
}

interface LedgerOptions {
  call(request: Request): Promise<Reply>;
  random: () => number;
}

/** Of those that were looked at before, each time. */
const OLD_ONES = 25;
const TERMINAL = new Set(['succeeded', 'failed', 'cancelled']);

export function createLedger({ call, random }: LedgerOptions): Ledger {
  /** By path, what a read of it has to give. */
  const promises = new Map<string, (reply: Reply) => string | undefined>();
  const ends = new Map<string, string>();
  const gates = new Map<string, number>();
  let recent: string[] = [];
  let uploads = 0;
  const promise = (path: string, fault: (reply: Reply) => string | undefined) => {
    promises.set(path, fault);
    recent.push(path);
  };
  const isThere = ({ status }: Reply) => (status === 200 ? undefined : `is answered ${status}`);

  function runFault(id: string, reply: Reply): string | undefined {
    const before = ends.get(id);
    const { status } = reply.body;
    if (reply.status === 200 && TERMINAL.has(status)) ends.set(id, status);
    return isThere(reply) ?? (before !== undefined && before !== status ? `was ${before} and is ${status}` : undefined);
  }

  return {
    note({ method, path }, { status, body }) {
      if (method === 'POST' && path === '/v1/runs' && status === 201) {
        promise(`/v1/runs/${body.run_id}`, (reply) => runFault(body.run_id, reply));
      }
      if (method === 'POST' && path === '/v1/projects' && status === 201) {
        promise(`/v1/projects/${body.project_id ?? body.id}`, isThere);
      }
      if (method === 'POST' && path === '/v1/workflows' && status === 201)
        promise(`/v1/workflows/${body.slug}`, isThere);
      const gate = /subtasks\/([^/]+)\/resolve-gate$/.exec(path)?.[1];
      if (gate !== undefined && status === 200) gates.set(gate, (gates.get(gate) ?? 0) + 1);
    },
    noteUpload(id, bytes) {
      uploads += 1;
      promise(`/v1/files/download?id=${id}`, (reply) =>
        reply.body === bytes
          ? undefined
          : `is ${String(reply.body).length} characters (${reply.status}), and was ${bytes.length}`,
      );
    },
    async broken({ all }) {
      const paths = all
        ? [...promises.keys()]
        : [...recent, ...shuffled(random, [...promises.keys()]).slice(0, OLD_ONES)];
      recent = [];
      const found: string[] = [];
      for (const path of new Set(paths)) {
        const surface = path.startsWith('/v1/runs/') ? 'api' : 'cp';
        const reply = await call({ surface, method: 'GET', path });
        const fault = promises.get(path)?.(reply);
        if (fault !== undefined) found.push(`${path} ${fault}`);
      }
      for (const [id, times] of gates) {
        if (times > 1) found.push(`gate ${id} took an answer ${times} times: the first was lost`);
      }
      return found;
    },
    counts: () => ({
      'answers that promise something': promises.size,
      'files stored': uploads,
      'gates that took an answer': gates.size,
      'ends of runs that were seen': ends.size,
    }),
  };
}
