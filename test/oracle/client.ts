/** The service as a program outside has it: both surfaces, the record of a project, and Temporal's own client. */
import { setTimeout as wait } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';

/** What the oracle is given: a running service, and what may be done to its processes. */
export interface Rig {
  url: string;
  apiKey: string;
  /** A signed session cookie of an owner of the workspace. */
  sessionOf(email: string): string;
  temporalAddress: string;
  /** `kill -9` of everything at once; returns when it is up again. */
  killAll(): Promise<void>;
  /** `kill -9` of one part; returns when everything is up again. */
  kill(part: Part): Promise<void>;
  /** SIGSTOP, and SIGCONT after that many milliseconds; returns then. */
  freeze(part: Part, ms: number): Promise<void>;
}
export type Part = 'service' | 'postgres' | 'temporal';
export const PARTS: readonly Part[] = ['service', 'postgres', 'temporal'];

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what the service says is looked at where it is used
type Json = any;
export interface Reply {
  /** 0 where nobody answered. */
  status: number;
  body: Json;
}

export interface Task {
  id: string;
  phase_slug: string;
  status: string;
  depends_on: string[];
  task_kind: 'regular' | 'edit_session';
}
export interface Subtask {
  id: string;
  step_slug: string;
  kind: 'agent' | 'action' | 'gate';
  role: string;
  assignee: string | null;
  status: string;
  depends_on: string[];
  gate_kind: string | null;
  gate_config: Record<string, unknown> | null;
}
export interface Attempt {
  id: string;
  subtask_id: string;
  attempt_number: number;
  status: string;
  output: unknown;
}
interface Artifact {
  phase_slug: string;
  version: number;
  content: unknown;
  superseded: boolean;
  produced_by_attempt_id: string | null;
}
export interface ProjectEvent {
  id: number;
  task_id: string | null;
  subtask_id: string | null;
  attempt_number: number | null;
  topic: string;
  actor_kind: string;
  actor_id: string | null;
  payload_jsonb: Json;
}

/** A project as the service tells of it. */
export interface ProjectRecord {
  id: string;
  status: string;
  pauseReason: string | null;
  hasStalePhases: boolean;
  phases: (Task & { steps: (Subtask & { attempts: Attempt[] })[] })[];
  /** All versions. */
  artifacts: Artifact[];
  /** Oldest first. */
  events: ProjectEvent[];
}

const OWNER = 'owner@localhost';

export function createClient(rig: Rig) {
  async function call(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Reply> {
    try {
      const response = await fetch(rig.url + path, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(15_000),
      });
      const said = await response.text();
      return { status: response.status, body: said === '' ? undefined : JSON.parse(said) };
    } catch (error) {
      return { status: 0, body: String(error) };
    }
  }
  const cp = (method: string, path: string, body?: unknown, email: string = OWNER) =>
    call(method, `/api/v1/cp${path}`, { cookie: `service_session=${rig.sessionOf(email)}` }, body);
  const api = (method: string, path: string, body?: unknown) =>
    call(method, path, { authorization: `Bearer ${rig.apiKey}` }, body);
  const command = (id: string, path: string, body?: unknown, email?: string) =>
    cp('POST', `/v1/projects/${id}/${path}`, body, email);

  /** Until it is answered: what a fault keeps from being read is read after it. */
  const read = (path: string): Promise<Json> =>
    until(`GET ${path}`, async () => {
      const { status, body } = await cp('GET', path);
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body;
    });
  const list = async <Row>(path: string): Promise<Row[]> => (await read(path)).data;
  const stepsOf = (id: string, taskId: string) => list<Subtask>(`/v1/projects/${id}/tasks/${taskId}/subtasks`);
  async function steps(id: string) {
    const tasks = await list<Task>(`/v1/projects/${id}/tasks`);
    const all = await Promise.all(tasks.map(async (task) => ({ ...task, steps: await stepsOf(id, task.id) })));
    return all;
  }

  async function record(id: string): Promise<ProjectRecord> {
    const project = await read(`/v1/projects/${id}`);
    const phases = await Promise.all(
      (await steps(id)).map(async (task) => ({
        ...task,
        steps: await Promise.all(
          task.steps.map(async (step) => ({
            ...step,
            attempts: await list<Attempt>(`/v1/projects/${id}/subtasks/${step.id}/attempts`),
          })),
        ),
      })),
    );
    return {
      id,
      status: project.status,
      pauseReason: project.pause_reason,
      hasStalePhases: project.has_stale_phases,
      phases,
      artifacts: await list(`/v1/projects/${id}/artifacts?current_only=false`),
      events: (await list<ProjectEvent>(`/v1/projects/${id}/events?limit=1000`)).reverse(),
    };
  }

  let connecting: Promise<Connection> | undefined;
  /** Temporal's own client, as another system that sends signals has it. */
  async function temporal(): Promise<Client> {
    connecting ??= Connection.connect({ address: rig.temporalAddress });
    return new Client({ connection: await connecting });
  }
  async function signalGate(id: string, subtaskId: string, decision: string, decidedBy: string): Promise<void> {
    const handle = (await temporal()).workflow.getHandle(`project-${id}`);
    await handle.signal('resolveGate', { subtask_id: subtaskId, decision, decided_by: decidedBy });
  }
  /** Of a project and all below it. @returns how many of its workflows run, and how many events they have in all */
  async function workflowsOf(id: string): Promise<{ running: number; events: number }> {
    let [running, events] = [0, 0];
    for await (const each of (await temporal()).workflow.list({
      query: `WorkflowId STARTS_WITH "project-${id}" AND ExecutionStatus = "Running"`,
    })) {
      running += 1;
      events += each.historyLength;
    }
    return { running, events };
  }

  return {
    cp,
    api,
    command,
    steps,
    record,
    signalGate,
    workflowsOf,
    project: (id: string) => read(`/v1/projects/${id}`),
    close: async () => (await connecting)?.close(),
  };
}
export type ServiceClient = ReturnType<typeof createClient>;

/** Asks until it is so. @returns what it was then @throws with the last answer when it is not so within that time */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  ms: number = 30_000,
): Promise<T> {
  let last: unknown;
  for (const deadline = performance.now() + ms; performance.now() < deadline; await wait(40)) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`not within ${ms / 1_000} s: ${what}${last === undefined ? '' : ` (${String(last)})`}`);
}
