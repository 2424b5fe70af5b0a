/** Runs the command line as a real process, the way a person does, and takes its end from the process table. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

export interface CliProcess {
  child: ChildProcess;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

export function startCli(args: readonly string[], env: NodeJS.ProcessEnv = {}): CliProcess {
  const child = spawn(process.execPath, [CLI, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Neither the settings of this machine nor jest's own options reach the service.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TEMPORAL_CLI_PATH: process.env.TEMPORAL_CLI_PATH, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

export interface ReadyLine {
  base_url: string;
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
    await Promise.race([once(child.stdout!, 'data'), ended]);
  }
}
