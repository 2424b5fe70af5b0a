/** Runs the command line as a real process, the way a person does, and takes its end from the process table. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { present } from '../../src/platform/core/present.ts';
import { runInTurn } from '../support/cli/here.ts';
import { isDrawn } from '../support/runner/sizes.ts';
import { inherited } from '../support/processes/inherited.ts';

const KEPT = ['HOME', 'TEMPORAL_CLI_PATH'];
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

export interface CliProcess {
  child: ChildProcess;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

/**
 * @param input on its standard input; none when not given
 * @param launcher a program with its arguments that starts it, and is it from then on
 */
export function startCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input?: string,
  launcher: readonly string[] = [],
): CliProcess {
  const [program, ...rest] = [...launcher, process.execPath, CLI, ...args] as [string, ...string[]];
  const child = spawn(program, rest, {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: { ...inherited(...KEPT), ...env },
  });
  let stdout = '';
  let stderr = '';
  present(child.stdout).on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  present(child.stderr).on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // One that ends before it has read all of it is no failure of ours.
  child.stdin?.on('error', () => {}).end(input);
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

/**
 * The same to its end. In a run of all tests nine of ten commands run in the test's own process instead of one of their own.
 */
export async function runCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input?: string,
  launcher: readonly string[] = [],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const isProcess = isDrawn(`commands as processes of their own: ${args.slice(0, 2).join(' ')}`, 10);
  if (!isProcess && launcher.length === 0) return runInTurn(args, { ...inherited(...KEPT), ...env }, input);
  const { ended, stdout, stderr } = startCli(args, env, input, launcher);
  return { code: await ended, stdout: stdout(), stderr: stderr() };
}

/**
 * What a command printed as JSON.
 * @throws Error with what it said instead, if it did not succeed
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test expects what it expects of it
export function jsonOf<T = any>({ code, stdout, stderr }: Awaited<ReturnType<typeof runCli>>): T {
  if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as T;
}

export interface ReadyLine {
  base_url: string;
  control_plane_url: string;
  api_key: string;
  curl: string;
  temporal_ui_url: string;
  ready_ms: number;
}

/** What a service logs when it takes requests. Rejects when it ends instead. */
export async function readyLine({ child, stdout, stderr, ended }: CliProcess): Promise<ReadyLine> {
  const find = () =>
    stdout()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as ReadyLine & { event?: string })
      .find(({ event }) => event === 'ready');
  let over = false;
  void ended.then(() => (over = true));
  for (;;) {
    const line = stdout().includes('"event":"ready"') ? find() : undefined;
    if (line) return line;
    if (over) throw new Error(`the service ended before it was ready\n${stdout()}${stderr()}`);
    await Promise.race([once(present(child.stdout), 'data'), ended]);
  }
}
