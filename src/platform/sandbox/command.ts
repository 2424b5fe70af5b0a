/**
 * Runs commands of strangers in bubblewrap. Nothing of a command outlives it: with the first process of its namespace
 * the kernel ends all others, and that one ends with its command, at its time limit, and when this process does.
 */
import { spawn, spawnSync, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodeOf } from '../core/causes.ts';
import { bubblewrapped, launchEnvironment, type CommandLimits } from './bubblewrap.ts';
import { memoryOf } from './memory-of.ts';
import { createOutput, tooLarge, tooLong, tooMuchOutput, type ProgramRequest, type ProgramResult } from './program.ts';
import { SandboxError } from './sandbox-error.ts';
import { syscallFilter } from './seccomp.ts';
import type { Slots } from './slots.ts';

export interface CommandSandbox {
  /** @returns why commands are not run here, for whoever writes or calls such a tool */
  problem(): string | undefined;
  /** @throws SandboxError when it could not start or had to be ended */
  run(argv: readonly string[], request: ProgramRequest): Promise<ProgramResult>;
}

interface Settings extends CommandLimits {
  isOn: boolean;
  slots: Slots;
}

const FILTER_FD = 3;
const INFO_FD = 4;
/** On a busy machine bubblewrap may take this long to make its namespaces. */
const MAKING_MS = 5_000;
const WATCH_MS = 100;
const PROBE_TIMEOUT_MS = 5_000;
const NOBODY = 65_534;

/** Root starts bubblewrap as nobody, for the reason that `bubblewrapped` gives. */
const startOptions = () => ({
  cwd: '/',
  env: launchEnvironment,
  ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
});

export const createCommandSandbox = ({ isOn, slots, ...limits }: Settings): CommandSandbox => {
  let probed: { problem?: string } | undefined;
  const problem = () =>
    isOn ? (probed ??= { problem: probe(limits) }).problem : 'command tools are off here: TOOLS_COMMAND';
  return {
    problem,
    async run(argv, request) {
      const reason = problem();
      if (reason) throw new SandboxError(reason);
      return slots.run(request.owner, request.signal, () => execute(argv, limits, request));
    },
  };
};

/** Tries whether a sandbox can be made here at all: the programs may be missing, or the kernel may not allow it. */
function probe(limits: CommandLimits): string | undefined {
  const [file, ...args] = bubblewrapped(['true'], limits, { seconds: 1 });
  const { status, stderr, error } = spawnSync(file, args, {
    ...startOptions(),
    timeout: PROBE_TIMEOUT_MS,
    encoding: 'utf8',
  });
  if (status === 0) return undefined;
  return `command tools need bubblewrap 0.8 and util-linux, which do not work here: ${error?.message ?? stderr.trim().slice(0, 300)}`;
}

async function execute(
  argv: readonly string[],
  limits: CommandLimits,
  request: ProgramRequest,
): Promise<ProgramResult> {
  const { stdin, timeoutMs, signal } = request;
  const filter = syscallFilter();
  const [file, ...args] = bubblewrapped(argv, limits, {
    seconds: Math.ceil(timeoutMs / 1_000) + 1,
    infoFd: INFO_FD,
    ...(filter && { filterFd: FILTER_FD }),
  });
  const child = start(file, args);

  const firstInside = readFirstInside(child.stdio[INFO_FD] as Readable);
  let ended: string | undefined;
  const end = (reason: string) => {
    if (ended !== undefined) return;
    ended = reason;
    void kill(child, firstInside);
  };
  const output = createOutput(() => end(tooMuchOutput));
  child.stdout.on('data', (chunk: Buffer) => output.add('stdout', chunk));
  child.stderr.on('data', (chunk: Buffer) => output.add('stderr', chunk));
  feed(child.stdin, stdin);
  feed(child.stdio[FILTER_FD] as Writable, filter ?? '');

  const timer = setTimeout(() => end(tooLong(timeoutMs)), timeoutMs);
  const watch = setInterval(async () => {
    if ((await memoryOf(child.pid!)) > limits.memoryBytes) end(tooLarge(limits.memoryBytes));
  }, WATCH_MS);
  const onAbort = () => end('it was cancelled');
  signal.addEventListener('abort', onAbort);
  try {
    const [exitCode] = (await once(child, 'close').catch((error: unknown) => {
      throw notStarted(error);
    })) as [number | null];
    signal.throwIfAborted();
    if (ended) throw new SandboxError(ended);
    return { exitCode: exitCode ?? 128, ...output.texts() };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener('abort', onAbort);
  }
}

function start(file: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  if (args.some((arg) => arg.includes('\0'))) throw new SandboxError('an argument has a NUL character in it');
  try {
    const stdio: 'pipe'[] = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'];
    return spawn(file, args, { ...startOptions(), detached: true, stdio }) as ChildProcessWithoutNullStreams;
  } catch (error) {
    throw notStarted(error);
  }
}

/** @returns the number of the first process inside; undefined where it ended before there was one */
async function readFirstInside(info: Readable): Promise<number | undefined> {
  const said = await text(info).catch(() => '');
  const [, pid] = /"child-pid":\s*(\d+)/.exec(said) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

/**
 * Ends the first process inside, and with it the kernel ends all others. bubblewrap alone would not do: the kernel forgets
 * that a process is to end with its parent whenever that process gives up rights, and asks to be told again.
 */
async function kill(child: ChildProcess, firstInside: Promise<number | undefined>): Promise<void> {
  const pid = await Promise.race([firstInside, sleep(MAKING_MS, undefined, { ref: false })]);
  // While bubblewrap is there the number is still that of its child.
  if (pid !== undefined && child.exitCode === null && child.signalCode === null) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
  child.kill('SIGKILL');
}

const notStarted = (error: unknown): SandboxError => {
  const code = errorCodeOf(error);
  return new SandboxError(code === 'E2BIG' ? 'its arguments are too long' : `it could not be started: ${code}`);
};

/** Writes to the program's input. A program that does not read it has not failed. */
const feed = (stream: Writable, content: string | Buffer): void => {
  stream.on('error', () => {});
  stream.end(content);
};
