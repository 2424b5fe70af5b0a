/** Programs of others that tests need, built from source by Go through its module proxy, once. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inCache } from './make-once.ts';

/** For what hangs: a minute of work when nothing else runs. */
export const BUILD_MS = 1_200_000;

/**
 * Of several at once one builds, and the others wait for it. A program that is there is not built again.
 * @param source `github.com/owner/name/path@v1.2.3`; the program that Go makes of it has the last part of the path for a name, but for a version
 * @param program where it is put
 * @throws Error when there is no Go, or it cannot be had or built
 */
export async function buildGoProgram(source: string, program: string): Promise<void> {
  if (existsSync(program)) return;
  await mkdir(dirname(program), { recursive: true });
  const release = await takeTurn(`${program}.lock`, () => existsSync(program));
  try {
    if (!existsSync(program)) await build(source, program);
  } finally {
    await release();
  }
}

const LOOK_MS = 500;
/** A lock that nobody has touched for so long is of a process that was killed. */
const ABANDONED_MS = 30_000;

/** @returns how to give the turn back, once there is one or nothing to do any more */
async function takeTurn(lock: string, isDone: () => boolean): Promise<() => Promise<void>> {
  const take = () =>
    mkdir(lock).then(
      () => true,
      () => false,
    );
  while (!(await take())) {
    if (isDone()) return async () => {};
    const touchedAt = await stat(lock).then(({ mtimeMs }) => mtimeMs, Date.now);
    if (Date.now() - touchedAt > ABANDONED_MS) await rm(lock, { recursive: true, force: true });
    else await wait(LOOK_MS);
  }
  const touching = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), LOOK_MS);
  return async () => {
    clearInterval(touching);
    await rm(lock, { recursive: true, force: true });
  };
}

async function build(source: string, program: string): Promise<void> {
  const folder = await mkdtemp(inCache('go-program-'));
  process.stderr.write(`Building ${source}, once ...\n`);
  try {
    await promisify(execFile)('go', ['install', '-trimpath', source], {
      cwd: folder,
      timeout: BUILD_MS,
      env: {
        ...process.env,
        // One core, as the test that waits for it would have: on all of them, other files' services miss their deadlines, and
        // at a low priority it has no time at all beside them.
        GOMAXPROCS: '1',
        // Everything inside the folder, and deletable: Go's module cache is read-only otherwise.
        GOFLAGS: '-modcacherw -p=1',
        GOBIN: folder,
        GOPATH: join(folder, 'go'),
        GOCACHE: join(folder, 'build'),
        GOTELEMETRY: 'off',
      },
    }).catch(({ killed, message }: Error & { killed?: boolean }) => {
      throw new Error(
        `${source} was not built: ${killed ? `more than ${BUILD_MS / 60_000} minutes` : lastLine(message)}`,
      );
    });
    await rename(join(folder, basename(source.replace(/(\/v\d+)?@.*$/, ''))), program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Of Go's words it is the last that say what was wrong; before them stands what it fetched. */
const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';
