/**
 * Downloads the Temporal CLI: `node download-temporal.mjs <version> <folder>` leaves `<folder>/temporal`. Where there
 * is no way to the internet it ends quickly and without output, and set-up takes another way.
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
// A slow download goes on for as long as something arrives.
async function* watched(chunks) {
  for await (const chunk of chunks) {
    clearTimeout(timer);
    timer = setTimeout(() => aborted.abort(), STALLED_MS);
    yield chunk;
  }
}
await Promise.all([pipeline(response.body, watched, tar.stdin), extracted]);
clearTimeout(timer);
