/**
 * Downloads the Temporal CLI: `node download-temporal.mjs <version> <folder>` leaves `<folder>/temporal`. Ends quickly
 * and without a word of its own where there is no way out to the internet; set-up then takes another way.
 */
import { spawn } from 'node:child_process';
import { pipeline } from 'node:stream/promises';

const CONNECT_MS = 10_000;
const STALLED_MS = 20_000;

const [version, folder] = process.argv.slice(2);
const platform = process.platform;
const arch = process.arch === 'x64' ? 'amd64' : process.arch;

const aborted = new AbortController();
let timer = setTimeout(() => aborted.abort(), CONNECT_MS);
const address = `https://temporal.download/cli/archive/${version}?platform=${platform}&arch=${arch}`;
const response = await fetch(address, { signal: aborted.signal });
if (!response.ok || !response.body) throw new Error(`status ${response.status}`);

const tar = spawn('tar', ['-xzf', '-', '-C', folder, 'temporal'], { stdio: ['pipe', 'inherit', 'inherit'] });
const extracted = new Promise((resolve, reject) => {
  tar.on('error', reject);
  tar.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`tar ended with code ${code}`))));
});
// However slow it is, as long as something arrives it goes on.
async function* watched(chunks) {
  for await (const chunk of chunks) {
    clearTimeout(timer);
    timer = setTimeout(() => aborted.abort(), STALLED_MS);
    yield chunk;
  }
}
await Promise.all([pipeline(response.body, watched, tar.stdin), extracted]);
clearTimeout(timer);
