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

/** Of the promises that were read before, this many are read again after each power loss. */
const OLD_ONES = 25;
const ONE_RUN_OR_PROJECT = /^\/v1\/(runs|projects)\/[^/?]+$/;
const COMMAND = /^(\/v1\/(?:runs|projects)\/[^/]+)\/(cancel|abandon)$/;
const GATE_ANSWER = /^(\/v1\/projects\/[^/]+)\/subtasks\/([^/]+)\/resolve-gate$/;
/** A run or a project with one of these statuses keeps it. */
const FINAL = new Set(['succeeded', 'failed', 'cancelled', 'completed', 'abandoned']);

export function createLedger({ call, random }: LedgerOptions): Ledger {
  /** By path, what is wrong with the reply to a read of it. */
  const promises = new Map<string, (reply: Reply) => string | undefined>();
  /** By path, the first final status that was answered, whoever asked. */
  const finals = new Map<string, string>();
  const gates = new Map<string, number>();
  let recent: string[] = [];
  let uploads = 0;
  const promise = (path: string, fault: (reply: Reply) => string | undefined) => {
    promises.set(path, fault);
    recent.push(path);
  };
  const promiseStatus = (path: string) =>
    promise(path, ({ status, body }) => {
      if (status !== 200) return `is answered ${status}`;
      const before = finals.get(path);
      return before === undefined || before === body.status ? undefined : `was ${before} and is ${body.status}`;
    });
  const noteStatus = (path: string, status: string) => {
    if (FINAL.has(status) && !finals.has(path)) finals.set(path, status);
  };

  function noteCreated(path: string, body: Reply['body']): void {
    if (path === '/v1/runs') promiseStatus(`${path}/${body.run_id}`);
    if (path === '/v1/projects') promiseStatus(`${path}/${body.project_id ?? body.id}`);
    if (path === '/v1/workflows') promiseStatus(`${path}/${body.slug}`);
  }

  return {
    note({ method, path }, { status, body }) {
      if (method === 'POST' && status === 201) noteCreated(path, body);
      if (status !== 200) return;
      if (method === 'GET' && ONE_RUN_OR_PROJECT.test(path)) noteStatus(path, body.status);
      const commanded = COMMAND.exec(path)?.[1];
      if (commanded !== undefined) noteStatus(commanded, body.status);
      const [, project, gate] = GATE_ANSWER.exec(path) ?? [];
      if (gate === undefined) return;
      gates.set(gate, (gates.get(gate) ?? 0) + 1);
      const gatePath = `${project}/tasks/${body.task_id}/subtasks/${gate}`;
      promiseStatus(gatePath);
      noteStatus(gatePath, body.status);
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
        const fault = promises.get(path)?.(await call({ surface, method: 'GET', path }));
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
      'final statuses that were answered': finals.size,
    }),
  };
}
