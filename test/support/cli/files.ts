/** A directory of files and the command line to deploy it with, for the tests of `aos plan` and `aos apply`. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import { runCli } from '../../embedded/service-process.ts';

export type DeployFolder = Awaited<ReturnType<typeof openDeployFolder>>;

/** @param as where the service is, and who asks it */
export async function openDeployFolder(as: { baseUrl: string; session: string }) {
  const folder = await mkdtemp(join(tmpdir(), 'aos-files-'));
  const directory = join(folder, 'deploy');
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    runCli([...args], { DATA_DIR: folder, AOS_URL: as.baseUrl, AOS_SESSION: as.session, AOS_API_KEY: '', ...env });
  return {
    /** The directory that is deployed, and one around it for what else a test makes. */
    directory,
    folder,
    run,
    /** @returns what it printed, having succeeded */
    async aos(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await run(args);
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
      return stdout;
    },
    async file(name: string, text: string): Promise<void> {
      const path = join(directory, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    },
    remove: (name: string) => rm(join(directory, name)),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
