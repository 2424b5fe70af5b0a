/**
 * One service per data directory. The claim is a lock that the operating system holds for the process and gives back
 * however it ends, so it cannot go stale; the children that a killed service left running are found by process id and
 * start time and stopped, or two servers would write the same files.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { ConfigError } from '../platform/core/config.ts';
import { readPrivateJson, writePrivateJson } from './private-file.ts';

const execFileAsync = promisify(execFile);

interface KnownProcess {
  pid: number;
  /** It tells the process from a later one with the same id. */
  startedAt: string;
}

export interface DataDirClaim {
  /** Records a child, to be stopped by the next start should this one be killed. */
  remember(name: string, pid: number): Promise<void>;
  release(): void;
}

/** @throws ConfigError when a live service uses the directory */
export async function claimDataDir(dataDir: string): Promise<DataDirClaim> {
  const file = join(dataDir, 'processes.json');
  const known = (await readPrivateJson<Record<string, KnownProcess>>(file)) ?? {};
  const lock = new DatabaseSync(join(dataDir, 'service.lock'), { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch {
    lock.close();
    const holder = known.service ? ` (process ${known.service.pid})` : '';
    throw new ConfigError(
      `DATA_DIR: ${dataDir} is in use by a running service${holder}; stop it or set another directory`,
    );
  }

  const { service: _, ...children } = known;
  await Promise.all(Object.values(children).map(stopLeftover));

  const running: Record<string, KnownProcess> = {};
  let written = Promise.resolve();
  const claim: DataDirClaim = {
    async remember(name, pid) {
      const startedAt = await startTime(pid);
      if (!startedAt) return;
      running[name] = { pid, startedAt };
      // Writes follow one another, because children start at the same time.
      written = written.catch(() => {}).then(() => writePrivateJson(file, running));
      await written.catch((error: unknown) => {
        if (name === 'service') throw error;
        // The disk may be full. The child runs all the same, and is noted when that is possible.
        setTimeout(() => void claim.remember(name, pid), NOTE_AGAIN_MS).unref();
      });
    },
    release: () => lock.close(),
  };
  await claim.remember('service', process.pid);
  return claim;
}

const TERM_MS = 10_000;
const NOTE_AGAIN_MS = 1_000;

async function stopLeftover({ pid, startedAt }: KnownProcess): Promise<void> {
  const isThere = async () => (await startTime(pid)) === startedAt;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!(await isThere())) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (const deadline = performance.now() + TERM_MS; performance.now() < deadline && (await isThere());) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/**
 * Stops Temporal servers that work on this file, whether anybody noted them or not: their command line says so. Whoever else
 * has the file in theirs, to read or to copy it, is left alone.
 */
export async function stopServersOn(file: string): Promise<void> {
  for (const pid of await pidsWith(['--db-filename', file])) {
    const startedAt = await startTime(pid);
    if (startedAt) await stopLeftover({ pid, startedAt });
  }
}

/** @returns the ids of processes whose command line has these arguments in a row */
export async function pidsWith(args: readonly string[]): Promise<number[]> {
  if (process.platform === 'linux') {
    // Hundreds of files of no length: read one after another they take a tenth of what they take side by side.
    return (await readdir('/proc')).flatMap((name) =>
      /^\d+$/.test(name) && commandOf(name).includes(`\0${args.join('\0')}\0`) ? Number(name) : [],
    );
  }
  const { stdout } = await execFileAsync('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 64 * 2 ** 20 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command] = /^ *(\d+) (.*)$/.exec(line) ?? [];
    return pid && `${command} `.includes(` ${args.join(' ')} `) ? Number(pid) : [];
  });
}

/** @returns the arguments, each ended by a zero; nothing where the process is gone */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** @returns undefined where the process does not exist */
export async function startTime(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') {
      // The name in parentheses may hold spaces; the start, in ticks since boot, is the 20th field after it.
      const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    const { stdout } = await execFileAsync('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
