/**
 * The two systems under measurement, each started as a user would and then driven in the same manner: POST, and a
 * Temporal client of the benchmark's own that awaits the workflow's result.
 */
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { Credentials } from '../../src/embedded/credentials.ts';
import { findTemporalCli, startTemporal } from '../../src/embedded/temporal.ts';
import { present } from '../../src/platform/core/present.ts';
import { projectWorkflowId } from '../../src/resources/projects/model.ts';
import { runWorkflowId } from '../../src/resources/runs/model.ts';
import { inherited } from '../support/processes/inherited.ts';
import { quietPort } from '../support/processes/ports.ts';
import { endWithUs, stopGroup } from './processes.ts';

export interface System {
  /** CPU and memory are summed over these processes and all below them. */
  roots: number[];
  /** Asks for a run; gives its workflow id when it is accepted. */
  accept(): Promise<string>;
  /** Resolves when the run is known to have succeeded. */
  result(workflowId: string): Promise<unknown>;
  /** Throws unless the system's own record says that the run succeeded. */
  check(workflowId: string): Promise<void>;
  /** Asks for a pipeline of so many steps, one after another; gives its workflow id when it is accepted. */
  acceptPipeline(steps: number): Promise<string>;
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

// --- the product

export interface Product extends System {
  baseUrl: string;
  /** Of a session, for what is no call: a stream. */
  cookie: string;
  /** From the start of the process until /readyz answered 200. */
  readyMs: number;
  /** A control plane read through the browser proxy, the way the web application does it. */
  read(path: string): Promise<{ data: { run_id: string }[] }>;
  /** The same for a command; gives its reply. */
  command(path: string, body?: unknown): Promise<Record<string, string>>;
  /** A project of so many phases, one after another, each of one step. */
  acceptPhases(phases: number): Promise<string>;
  /** A project that waits at a human gate. */
  acceptGated(): Promise<string>;
}

export interface ProductPlace {
  dataDir: string;
  port: number;
  /** Beside the defaults. */
  settings?: Record<string, string>;
}

const COMMANDS = { node: [process.execPath, 'src/cli.ts', 'start'], npm: ['npm', 'start', '--silent'] };
const BODY = JSON.stringify({ agent: 'assistant', prompt: 'Say hello.' });
const START_MS = 60_000;

export async function startProduct(
  { dataDir, port, settings: own = {} }: ProductPlace,
  command: 'node' | 'npm' = 'node',
): Promise<Product> {
  const [program, ...args] = COMMANDS[command];
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const log = openSync(join(dataDir, '..', 'product.log'), 'a');
  const startedAt = Date.now();
  const from = performance.now();
  // A group of its own: Ctrl-C is for the benchmark, which ends it.
  const child = spawn(present(program), args, {
    cwd: ROOT,
    stdio: ['ignore', log, log],
    detached: true,
    env: { ...(await settings(dataDir, port)), ...own },
  });
  endWithUs(present(child.pid));
  const baseUrl = `http://127.0.0.1:${port}`;
  await until(
    `the product is not ready; see ${dataDir}`,
    child,
    async () => (await request(`${baseUrl}/readyz`)).statusCode === 200,
  );
  const readyMs = performance.now() - from;

  // Written when the worker is up too, which may be after the first request is served.
  const file = join(dataDir, 'credentials.json');
  await until('the product wrote no credentials', child, async () => (await stat(file)).mtimeMs >= startedAt);
  const credentials = JSON.parse(await readFile(file, 'utf8')) as Credentials;
  const post = {
    method: 'POST' as const,
    body: BODY,
    headers: { authorization: `Bearer ${credentials.api_key}`, 'content-type': 'application/json' },
  };
  const cookie = `service_session=${credentials.session_cookie}`;
  const client = await connect(credentials.temporal_address);
  const send: Product['command'] = async (path, body = {}) => {
    const { statusCode, body: answer } = await request(`${baseUrl}/api/v1/cp/v1${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { cookie, 'content-type': 'application/json' },
    });
    const reply = await answer.json();
    if (statusCode >= 300) throw new Error(`POST ${path}: ${statusCode} ${JSON.stringify(reply)}`);
    return reply as Record<string, string>;
  };
  const startPipeline = pipelinesOf(send);
  return {
    baseUrl,
    cookie,
    roots: [present(child.pid)],
    readyMs,
    command: send,
    accept: async () => runWorkflowId(present((await accepted(`${baseUrl}/v1/runs`, post)).run_id)),
    result: (workflowId) => client.workflow.result(workflowId),
    async check(workflowId) {
      const runId = workflowId.replace(runWorkflowId(''), '');
      const { body } = await request(`${baseUrl}/v1/runs/${runId}`, { headers: post.headers });
      const { status } = (await body.json()) as { status: string };
      if (status !== 'succeeded')
        throw new Error(`run ${runId} is recorded as ${status} though its workflow has ended`);
    },
    acceptPipeline: (steps) => startPipeline(`bench-steps-${steps}`, () => [phaseOf('work', steps)]),
    acceptPhases: (phases) =>
      startPipeline(`bench-phases-${phases}`, () =>
        Array.from({ length: phases }, (_, i) => ({
          ...phaseOf(`phase-${i}`, 1),
          ...(i > 0 && { depends_on: [`phase-${i - 1}`] }),
        })),
      ),
    acceptGated: () => startPipeline('bench-gated', () => [gatedPhase]),
    async read(path) {
      const { statusCode, body } = await request(`${baseUrl}/api/v1/cp/v1${path}`, { headers: { cookie } });
      const reply = await body.json();
      if (statusCode !== 200) throw new Error(`GET ${path}: ${statusCode} ${JSON.stringify(reply)}`);
      return reply as { data: { run_id: string }[] };
    },
    async stop() {
      await client.connection.close();
      await stopGroup(present(child.pid));
    },
  };
}

interface BenchPhase {
  slug: string;
  depends_on?: string[];
  [more: string]: unknown;
}

const step = (slug: string) => ({
  step_slug: slug,
  kind: 'agent',
  role: 'producer',
  assignee: 'writer',
  tools: ['calculator'],
  instructions: 'Write a paragraph about kites.',
});
const phaseOf = (slug: string, steps: number): BenchPhase => ({
  slug,
  title: slug,
  steps: Array.from({ length: steps }, (_, i) => step(`step-${i}`)),
});
const gate = { step_slug: 'approve', kind: 'gate', role: 'gatekeeper', gate_kind: 'human' };
const gatedPhase: BenchPhase = { slug: 'gated', title: 'gated', steps: [step('write'), gate] };

/** Starts projects of templates that are made when they are first asked for. */
function pipelinesOf(command: Product['command']) {
  const made = new Map<string, Promise<unknown>>();
  return async (slug: string, phases: () => BenchPhase[]): Promise<string> => {
    if (!made.has(slug)) {
      const spec = { slug, version: 1, title: slug, phases: phases() };
      // A second start on the same data finds it there.
      made.set(
        slug,
        command('/workflows', { spec }).catch((error: Error) => {
          if (!error.message.includes('409')) throw error;
        }),
      );
    }
    await made.get(slug);
    const { id } = await command('/projects', { title: slug, workflow_slug: slug, brief: 'Kites.' });
    return projectWorkflowId(present(id));
  };
}

/** As on a fresh clone: neither this machine's settings nor an .env file reach the service. */
async function settings(dataDir: string, port: number): Promise<NodeJS.ProcessEnv> {
  const names = (await readFile(join(ROOT, '.env'), 'utf8').catch(() => '')).match(/^\w+(?==)/gm) ?? [];
  return {
    ...Object.fromEntries(names.map((name) => [name, ''])),
    ...inherited('HOME', 'TEMPORAL_CLI_PATH'),
    DATA_DIR: dataDir,
    PORT: String(port),
    CONTROL_PLANE_PORT: String(await quietPort()),
  };
}

async function until(failure: string, child: { exitCode: number | null }, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + START_MS; child.exitCode === null && Date.now() < deadline;) {
    if (await isSo().catch(() => false)) return;
    await sleep(20);
  }
  throw new Error(failure);
}

// --- the bare floor

/** The SDK takes a logger once in the life of a process. */
let isQuiet = false;
function quieten(): void {
  if (!isQuiet) Runtime.install({ logger: new DefaultLogger('WARN') });
  isQuiet = true;
}

interface Floor extends System {
  readyMs: number;
  /** Asks for a workflow of so many activities that ask the provider there; gives its id when it is accepted. */
  acceptTurns(count: number, baseUrl: string): Promise<string>;
}

/** On a Temporal server of its own with the flags of the product's. */
export async function startFloor(folder: string, kind: 'bare' | 'lean' = 'bare'): Promise<Floor> {
  await mkdir(folder, { recursive: true });
  quieten();
  // Bundled here, as the product's is by set-up: webpack's memory is not the floor's.
  const bundle = join(folder, 'bundle.js');
  const { code } = await bundleWorkflowCode({
    workflowsPath: here('./floor-workflow.ts'),
    logger: new DefaultLogger('WARN'),
  });
  await writeFile(bundle, code);
  const from = performance.now();
  const temporal = await startTemporal({
    cliPath: present(await findTemporalCli(process.env)),
    dbFile: join(folder, 'temporal.db'),
    uiPort: 0,
  });
  endWithUs(temporal.pid);
  const log = openSync(join(folder, 'floor.log'), 'a');
  const child = spawn(process.execPath, [here('./floor.ts'), temporal.address, bundle, kind], {
    stdio: ['ignore', log, log, 'ipc'],
    detached: true,
  });
  endWithUs(present(child.pid));
  const [port] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [number];
  if (child.exitCode !== null) throw new Error(await readFile(join(folder, 'floor.log'), 'utf8'));
  const readyMs = performance.now() - from;
  const client = await connect(temporal.address);
  const post = async (path: string) =>
    present((await accepted(`http://127.0.0.1:${port}${path}`, { method: 'POST' })).id);
  return {
    readyMs,
    roots: [present(child.pid), temporal.pid],
    accept: () => post('/runs'),
    acceptPipeline: (steps) => post(`/chains/${steps}`),
    acceptTurns: (count, baseUrl) => post(`/turns/${count}?ask=${encodeURIComponent(baseUrl)}`),
    result: (workflowId) => client.workflow.result(workflowId),
    check: async () => {},
    async stop() {
      await client.connection.close();
      await stopGroup(present(child.pid));
      await temporal.stop();
    },
  };
}

// --- both

const connect = async (address: string) => new Client({ connection: await Connection.connect({ address }) });

async function accepted(url: string, options: Parameters<typeof request>[1]): Promise<Record<string, string>> {
  const { statusCode, body } = await request(url, options);
  if (statusCode !== 201) throw new Error(`POST ${url}: ${statusCode} ${await body.text()}`);
  return (await body.json()) as Record<string, string>;
}
