/** The embedded service on a disk that fills up and is freed again, and where nothing can be written at all. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCredentials, type Credentials } from '../../src/embedded/credentials.ts';
import { present } from '../../src/platform/core/present.ts';
import { isMissing } from '../support/programs/missing.ts';
import { scrape } from '../support/observability/scrape.ts';
import { call, eventually } from '../support/service/service.ts';
import { having, mountSmallDisk, reasonAgainstMounts, type SmallDisk } from '../support/faults/small-disk.ts';
import { readyLine, runCli, startCli, type CliProcess } from './service-process.ts';

const MB = 1_024 ** 2;
const DISK = 600 * MB;

const onAnyDisk = isMissing('full disks', await reasonAgainstMounts()) ? test.skip : test;

let folder: string;
let dataDir: string;
let disk: SmallDisk | undefined;
let service: CliProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-disk-'));
  dataDir = join(folder, 'data');
  await mkdir(dataDir);
});
afterAll(async () => {
  if (service) {
    service.child.kill('SIGTERM');
    await service.ended;
  }
  await disk?.close();
  await rm(folder, { recursive: true, force: true });
});

let credentials: Credentials;
const api = (method: string, path: string, body?: unknown) =>
  call(present(credentials.base_url) + path, method, { authorization: `Bearer ${credentials.api_key}` }, body);
const dispatch = (prompt: string) => api('POST', '/v1/runs', { agent: 'assistant', prompt });
const diskHealth = async () => {
  const url = `${credentials.base_url}/api/v1/cp/v1/system/health`;
  const { body } = await call(url, 'GET', { cookie: `service_session=${credentials.session_cookie}` });
  return body.parts.find(({ name }: { name: string }) => name === 'disk');
};
const ends = (id: string, status: string) =>
  eventually(async () => expect((await api('GET', `/v1/runs/${id}`)).body).toMatchObject({ status }));

// Guards: a disk that fills up is reported before it is full, new work is refused with the reason, and accepted work
// ends. Servers that stopped for lack of space come back when there is space, with everything that was accepted.
onAnyDisk('what was accepted survives a full disk', async () => {
  const env = { PORT: '0', CONTROL_PLANE_PORT: '0', DATA_DIR: dataDir };
  disk = await mountSmallDisk(dataDir, DISK);
  service = startCli(['start'], env, undefined, disk.launcher);
  await readyLine(service);
  credentials = present(await readCredentials(disk.inside));
  expect(await diskHealth()).toMatchObject({ status: 'degraded', detail: 'less than 1 GB free' });
  const accepted: string = (await dispatch('[[sleep:4000]]')).body.run_id;

  await disk.leave(32 * MB);
  await eventually(async () =>
    expect(await dispatch('Hello')).toMatchObject({ status: 507, body: { detail: 'storage_full' } }),
  );
  expect(await diskHealth()).toMatchObject({ status: 'degraded', detail: expect.stringContaining('nothing new') });
  const { value } = await scrape(`${credentials.control_plane_url}/metrics`);
  expect(value('aos_disk_free_bytes')).toBeLessThan(64 * MB);
  await ends(accepted, 'succeeded');

  await disk.makeRoom();
  const other: string = await eventually(async () => {
    const { status, body } = await dispatch('[[sleep:4000]]');
    expect(status).toBe(201);
    return body.run_id;
  });
  await disk.leave(0);
  const servers = JSON.parse(await readFile(join(disk.inside, 'processes.json'), 'utf8')) as Record<
    string,
    { pid: number }
  >;
  for (const name of ['postgres', 'temporal']) process.kill(present(servers[name]).pid, 'SIGKILL');
  // They are tried again and again meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await disk.makeRoom();
  await ends(other, 'succeeded');
  await ends(accepted, 'succeeded');
  const third = await eventually(async () => {
    const { status, body } = await dispatch('Hello');
    expect(status).toBe(201);
    return body.run_id;
  });
  await ends(third, 'succeeded');
});

// Guards: a directory that cannot be written to is named at once, before anything was made.
onAnyDisk('a read-only directory is refused with its name', async () => {
  const readOnly = await mkdtemp(join(tmpdir(), 'aos-read-only-'));
  const env = { PORT: '0', CONTROL_PLANE_PORT: '0', DATA_DIR: readOnly };
  const { code, stderr } = await runCli(
    ['start'],
    env,
    undefined,
    having(`mount --bind ${readOnly} ${readOnly} && mount -o remount,bind,ro ${readOnly}`),
  );
  expect(code).toBe(1);
  expect(stderr).toContain(`DATA_DIR: ${readOnly} cannot be written to: it is on a read-only file system`);
  await rm(readOnly, { recursive: true });
});
