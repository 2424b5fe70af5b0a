/** What is watched on the command line is watched on over a restart of the service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startCli } from '../embedded/service-process.ts';
import { gateStep, makeTemplate, phaseSpec, startProject, untilGate } from '../support/fixtures/projects.ts';
import { portOf } from '../support/processes/listening.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let folder: string;
let front: Server;
const sockets = new Set<Socket>();

/** Passes connections on to the service, at an address that can go away while the service stays. */
async function open(port: number): Promise<void> {
  const { hostname, port: behind } = new URL(service.baseUrl);
  front = createServer((socket) => {
    const onward = connect(Number(behind), hostname);
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => sockets.delete(one));
    }
    socket.pipe(onward).pipe(socket);
  }).listen(port, '127.0.0.1');
  await once(front, 'listening');
}
async function close(): Promise<void> {
  front?.close();
  for (const socket of sockets) socket.destroy();
  if (front) await once(front, 'close');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-restarts-'));
  service = await startTestService();
  tenant = await service.tenant('acc_restarts');
  await makeTemplate(tenant, 'gated', [phaseSpec('main', [gateStep('check')])]);
  await open(0);
});
afterAll(async () => {
  await close();
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

// Guards against: a watch that ends with an error because the service is deployed anew.
test('a project and the inbox', async () => {
  const port = portOf(front);
  const env = {
    DATA_DIR: folder,
    AOS_URL: `http://127.0.0.1:${port}`,
    AOS_SESSION: tenant.session,
    AOS_API_KEY: tenant.apiKey,
  };
  const id = await startProject(tenant, 'gated');
  await untilGate(tenant, id, 'main', 'check');
  const project = startCli(['project', 'watch', id], env);
  const inbox = startCli(['inbox', '--watch'], env);
  const both = [project, inbox];
  await eventually(() =>
    expect(both.map((one) => one.stdout())).toEqual([
      expect.stringContaining('waits for a person'),
      expect.stringContaining('waits  '),
    ]),
  );
  await close();
  await eventually(() =>
    expect(both.map((one) => one.stderr())).toEqual(
      both.map(() => `http://127.0.0.1:${port} does not answer; it is tried until it is back\n`),
    ),
  );
  await open(port);
  const approved = startCli(['project', 'approve', id], { ...env, AOS_URL: service.baseUrl });
  expect(await approved.ended).toBe(0);
  expect(await project.ended).toBe(0);
  expect(project.stdout()).toMatch(/\ncompleted {2}/);
  await eventually(() => expect(inbox.stdout()).toContain('settled  '));
  inbox.child.kill('SIGTERM');
  await inbox.ended;
});
