/** Programs of others that tests need, built from source by Go through its module proxy, once. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { giveWay } from '../processes/give-way.ts';
import { inCache } from './make-once.ts';

/**
 * Of two at once both build, and either one is whole.
 * @param source `github.com/owner/name/path@v1.2.3`; the program that Go makes of it has the last part of the path for a name, but for a version
 * @param program where it is put
 * @throws Error when there is no Go, or it cannot be had or built
 */
export async function buildGoProgram(source: string, program: string, timeoutMs: number): Promise<void> {
  await mkdir(dirname(program), { recursive: true });
  const folder = await mkdtemp(inCache('go-program-'));
  process.stderr.write(`Building ${source}, once ...\n`);
  try {
    const built = promisify(execFile)('go', ['install', '-trimpath', source], {
      cwd: folder,
      timeout: timeoutMs,
      // Everything inside the folder, and deletable: Go's module cache is read-only otherwise.
      env: {
        ...process.env,
        GOBIN: folder,
        GOPATH: join(folder, 'go'),
        GOCACHE: join(folder, 'build'),
        GOFLAGS: '-modcacherw',
        GOTELEMETRY: 'off',
      },
    });
    giveWay(built.child);
    await built;
    await rename(join(folder, basename(source.replace(/(\/v\d+)?@.*$/, ''))), program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
