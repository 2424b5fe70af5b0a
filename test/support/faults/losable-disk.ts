/**
 * A directory on a disk that can lose its power: a file system of its own in an image (loop device). After a power loss the
 * directory is what the image had, without what was only in the system's cache. Linux, as root.
 *
 * The disk itself has no cache here that it could lose: what the system has sent to it stays.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startTime } from '../../../src/embedded/stale.ts';
import { present } from '../../../src/platform/core/present.ts';
import { reasonOf } from '../programs/missing.ts';
import { having, type SmallDisk } from './small-disk.ts';

const run = promisify(execFile);

export interface LosableDisk extends Pick<SmallDisk, 'launcher' | 'inside' | 'close'> {
  /**
   * Stops all processes, ends them, and leaves what the disk had when the last of them stopped.
   * @param findPids is asked until it names no new process, because one may start another while they are stopped
   */
  losePower(findPids: () => Promise<readonly number[]>): Promise<void>;
}

/**
 * Returns why no disk can lose its power on this machine; undefined if one can.
 * @throws Error if the rig loses synced bytes or keeps others, because a proof on such a rig shows nothing
 */
export async function reasonAgainstLoops(): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'aos-loop-'));
  try {
    let disk: LosableDisk | undefined;
    const reason = await reasonOf(mountLosableDisk(directory, 8 * 1_024 ** 2).then((mounted) => (disk = mounted)));
    if (disk) await requireLoss(disk);
    return reason;
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function requireLoss(disk: LosableDisk): Promise<void> {
  try {
    await writeFile(join(disk.inside, 'synced'), 'bytes', { flush: true });
    await writeFile(join(disk.inside, 'unsynced'), 'bytes');
    await disk.losePower(async () => []);
    const read = (name: string) => readFile(join(disk.inside, name), 'utf8').catch(() => '');
    const left = [await read('synced'), await read('unsynced')];
    if (left.join() !== 'bytes,') throw new Error(`after a power loss the disk has ${JSON.stringify(left)}`);
  } finally {
    await disk.close();
  }
}

/** The system writes by itself what is older than this, as it does by default. */
const COMMIT_S = 5;

/** @param directory one that is there, and empty; its images are beside it */
export async function mountLosableDisk(directory: string, bytes: number): Promise<LosableDisk> {
  const images = await mkdtemp(`${directory}-disk-`);
  let image = join(images, '0.img');
  await run('truncate', ['-s', String(bytes), image]);
  await run('mkfs.ext4', ['-q', '-F', image]);

  // The mounts are those of this process, and are gone with it, however it ends.
  const [program, ...args] = having('echo there');
  const keeper = spawn(present(program), [...args, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(keeper, 'exit');
  await Promise.race([
    once(keeper.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('no mounts of its own'))),
  ]);
  const launcher = ['nsenter', '--mount', '--target', String(keeper.pid)];
  const inMounts = (...command: string[]) => run(present(launcher[0]), [...launcher.slice(1), ...command]);
  const mount = () => inMounts('mount', '-o', `loop,commit=${COMMIT_S}`, image, directory);
  const close = async () => {
    await inMounts('umount', '-l', directory).catch(() => {});
    keeper.kill('SIGKILL');
    await ended;
    await rm(images, { recursive: true });
  };
  await mount().catch(async (error: unknown) => {
    await close();
    throw error;
  });

  /** How many writes the disk has done and has under way. */
  async function writes(): Promise<string> {
    const mounts = await readFile(`/proc/${keeper.pid}/mountinfo`, 'utf8');
    const fields = mounts.split('\n').map((line) => line.split(' '));
    const device = present(fields.findLast((each) => each[4] === directory)?.[2]);
    const counts = (await readFile(`/sys/dev/block/${device}/stat`, 'utf8')).trim().split(/\s+/);
    return `${counts[4]} ${counts[8]}`;
  }

  return {
    launcher,
    inside: join(`/proc/${keeper.pid}/root`, directory),
    close,
    async losePower(findPids) {
      const pids = new Set<number>();
      for (let found = await findPids(); found.some((pid) => !pids.has(pid)); found = await findPids()) {
        for (const pid of found) {
          signal(pid, 'SIGSTOP');
          pids.add(pid);
        }
      }
      const next = join(images, `${Number.parseInt(image.split('/').at(-1) ?? '') + 1}.img`);
      // The system goes on writing by itself: only a copy during which it wrote nothing is of one moment.
      for (let before = ''; before !== (await writes());) {
        before = await writes();
        await run('cp', ['--sparse=always', image, next]);
      }
      for (const pid of pids) signal(pid, 'SIGKILL');
      for (const pid of pids) while ((await startTime(pid)) !== undefined) await wait(20);
      await inMounts('umount', '-l', directory);
      await rm(image);
      image = next;
      await mount();
    },
  };
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // Ended already.
  }
}
