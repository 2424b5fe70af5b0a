/** What requests leave in the memory of the service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '../../src/platform/core/present.ts';
import { readyLine, startCli } from './service-process.ts';

const REQUESTS = 1_500;
/** What the compiler and caches take is half of it; a request of which something is left leaves 8,000 to 22,000. */
const BYTES_A_REQUEST = 5_000;

let folder: string;
let service: ReturnType<typeof startCli>;
let ready: Awaited<ReturnType<typeof readyLine>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-heap-'));
  service = startCli(['start'], { PORT: '0', CONTROL_PLANE_PORT: '0', DATA_DIR: join(folder, 'data') });
  ready = await readyLine(service);
});
afterAll(async () => {
  service?.child.kill('SIGTERM');
  await service?.ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
});

/** @returns the bytes that are old, and how often these were collected */
async function old() {
  const page = await (await fetch(`${ready.control_plane_url}/metrics`)).text();
  const [, bytes] = present(/^nodejs_heap_space_size_used_bytes\{space="old"\} (\S+)$/m.exec(page));
  // A kind of collection is told of from its first on.
  const collections = page.match(/^nodejs_gc_duration_seconds_count\{kind="(?!minor).*$/gm) ?? [];
  return { bytes: Number(bytes), collected: collections.join() };
}

// Guards: the objects of a request die young. A few that do not keep all of it until the next great collection: memory
// then grows with each request to several times what is needed, and each small collection copies what should be gone.
test.each([
  ['that shows no credential', '/healthz'],
  ['that reads the record', '/v1/runs/no-such-run'],
])('a request %s leaves nothing old', async (_, path) => {
  const headers = { authorization: `Bearer ${ready.api_key}` };
  const ask = async (times: number) => {
    for (let i = 0; i < times; i++) await (await fetch(`${ready.base_url}${path}`, { headers })).text();
  };
  await ask(REQUESTS);
  let left = Number.POSITIVE_INFINITY;
  // A collection in between would hide what is left, and what begins meanwhile adds to it.
  for (let tries = 0; tries < 6 && left > BYTES_A_REQUEST; tries++) {
    const before = await old();
    await ask(REQUESTS);
    const after = await old();
    if (after.collected === before.collected) left = Math.min(left, (after.bytes - before.bytes) / REQUESTS);
  }
  expect(left).toBeLessThan(BYTES_A_REQUEST);
});
