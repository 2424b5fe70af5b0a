/** Container tools: what the engine is asked, on a small engine over a real socket; what containers can do, on a real one. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createLog } from '../../../src/platform/core/log.ts';
import { first, present } from '../../../src/platform/core/present.ts';
import type { ContainerSpec } from '../../../src/platform/sandbox/confined.ts';
import { createContainerSandbox } from '../../../src/platform/sandbox/container.ts';
import { DEADLINE_LABEL } from '../../../src/platform/sandbox/confined.ts';
import { SandboxError } from '../../../src/platform/sandbox/sandbox-error.ts';
import { createSlots } from '../../../src/platform/sandbox/slots.ts';
import { eventually } from '../../support/service/service.ts';
import { sized, tried } from '../../support/runner/sizes.ts';
import { startDockerEngine, type DockerEngine, type FakeContainer } from './docker-engine.ts';

jest.setTimeout(60_000);

const MB = 1_024 * 1_024;
const settings = { isOn: true, images: [], memoryBytes: 64 * MB, processes: 32 };
const never = new AbortController().signal;
const sandboxAt = (dockerHost: string, more: Partial<Parameters<typeof createContainerSandbox>[0]> = {}) =>
  createContainerSandbox({ ...settings, slots: createSlots(20), dockerHost, ...more });
const runIn = (
  sandbox: ReturnType<typeof sandboxAt>,
  order: ContainerSpec,
  { stdin = '', timeoutMs = 5_000, signal = never } = {},
) => sandbox.run(order, { stdin, timeoutMs, owner: 'acc_acme', signal });

let engine: DockerEngine;
beforeEach(async () => {
  engine = await startDockerEngine();
});
afterEach(() => engine.close());

const KNOWN = { image: 'tools/known:1' };

// Guards: a deployment that did not ask for containers never calls an engine, and a faulty setting is reported.
test('is off unless it is on', async () => {
  const off = sandboxAt(engine.host, { isOn: false });
  expect(off.problem()).toContain('TOOLS_CONTAINER');
  await expect(runIn(off, KNOWN)).rejects.toThrow(SandboxError);
  off.startSweeping(createLog({ level: 'silent' }))();
  expect(engine.requests).toEqual([]);
  for (const host of ['ssh://docker', 'nonsense', 'unix://', '']) {
    expect(sandboxAt(host).problem()).toContain('DOCKER_HOST');
  }
  for (const host of ['tcp://10.0.0.1:2375', 'https://docker.example.com'])
    expect(sandboxAt(host).problem()).toBeUndefined();
});

// Guards: each container is made with all restrictions, and is gone when its call is answered.
test('asks for a container with nothing', async () => {
  let asked: FakeContainer | undefined;
  engine.behave(async ({ stdin, write }) => {
    [asked] = engine.containers.values();
    write('stdout', `it read ${await stdin()}`);
    write('stderr', 'and said\0so');
    return 3;
  });
  const began = Date.now();
  const order = { ...KNOWN, argv: ['say', 'a b'], env: { NAME: 'x=y' } };
  expect(await runIn(sandboxAt(engine.host), order, { stdin: '{"a":1}' })).toEqual({
    exitCode: 3,
    stdout: 'it read {"a":1}',
    stderr: 'and saidso',
  });
  const tmpfs = expect.stringContaining(`size=${64 * MB}`);
  expect(present(asked).order).toEqual({
    name: expect.stringMatching(/^tool-[\w-]{36}$/),
    Image: 'tools/known:1',
    Cmd: ['say', 'a b'],
    Env: ['NAME=x=y'],
    User: '65534:65534',
    Hostname: 'sandbox',
    NetworkDisabled: true,
    Labels: { [DEADLINE_LABEL]: expect.stringMatching(/^\d+$/) },
    Healthcheck: { Test: ['NONE'] },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': tmpfs, '/data': tmpfs },
      ShmSize: 16 * MB,
      Memory: 64 * MB,
      MemorySwap: 64 * MB,
      PidsLimit: 32,
      NanoCpus: 1e9,
      Ulimits: [
        { Name: 'nofile', Soft: 1_024, Hard: 1_024 },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
      OomScoreAdj: 1_000,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true'],
      Privileged: false,
      IpcMode: 'private',
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none', Config: {} },
    },
  });
  const deadline = Number(present(asked).order.Labels[DEADLINE_LABEL]);
  expect(deadline).toBeGreaterThan(began + 5_000);
  expect(deadline).toBeLessThan(Date.now() + 60_000);
  expect(engine.containers.size).toBe(0);
  expect(engine.requests.filter((request) => /pull|images\/create/.test(request))).toEqual([]);
});
test('asks for the runtime that is set', async () => {
  let runtime: unknown;
  engine.behave(async () => {
    runtime = first([...engine.containers.values()]).order.HostConfig.Runtime;
    return 0;
  });
  await runIn(sandboxAt(engine.host, { runtime: 'runsc' }), KNOWN);
  expect(runtime).toBe('runsc');
});

// Guards: an image is a name and nothing else, because it becomes part of an address of the engine or another host.
test.each(['../x', '//evil.example/x', 'a/../../b', 'x?y=z', 'x#y', 'a b', 'UPPER', 'x:', 'a%2fb', '', 'http://x'])(
  'the image %s is refused',
  async (image) => {
    await expect(runIn(sandboxAt(engine.host), { image })).rejects.toThrow('must be the name of an image');
    expect(engine.requests).toEqual([]);
  },
);
test('images are the ones that the operator named', () => {
  const sandbox = sandboxAt(engine.host, { images: ['tools/known:1'] });
  expect(sandbox.imageProblem('tools/known:1')).toBeUndefined();
  expect(sandbox.imageProblem('tools/known')).toContain('must be one of tools/known:1');
  const digest = `registry.example.com:5000/a/b-c_d:v1.0@sha256:${'0'.repeat(64)}`;
  for (const image of ['alpine', 'alpine:3.20', digest])
    expect(sandboxAt(engine.host).imageProblem(image)).toBeUndefined();
});

// Guards: an engine that refuses, fails or is absent gives an answer in words, and leaves nothing behind.
test('says what is wrong', async () => {
  const sandbox = sandboxAt(engine.host);
  await expect(runIn(sandbox, { image: 'unknown' })).rejects.toThrow('has no image unknown');
  engine.fail(/start$/, 400);
  await expect(runIn(sandbox, KNOWN)).rejects.toThrow('cannot be started');
  engine.fail(/create$/, 500);
  await expect(runIn(sandbox, KNOWN)).rejects.toThrow('the Docker host does not run it: it answered 500');
  await expect(runIn(sandboxAt('unix:///nowhere/docker.sock'), KNOWN)).rejects.toThrow('ENOENT');
  expect(engine.containers.size).toBe(0);
});

// Guards: a container ends at its time limit, at its output limit and at the end of its run, and is removed at once.
test('ends what does not end', async () => {
  const sandbox = sandboxAt(engine.host);
  engine.behave(async () => {});
  const began = performance.now();
  await expect(runIn(sandbox, KNOWN, { timeoutMs: 300 })).rejects.toThrow('not done within 0.3 seconds');
  expect(performance.now() - began).toBeLessThan(20_000);
  engine.behave(async ({ write }) => {
    for (let i = 0; i < 30; i++) write('stdout', 'x'.repeat(64 * 1_024));
  });
  await expect(runIn(sandbox, KNOWN)).rejects.toThrow('wrote more than');
  const controller = new AbortController();
  engine.behave(async () => controller.abort());
  await expect(runIn(sandbox, KNOWN, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  expect(engine.containers.size).toBe(0);
});

// Guards: a container that is made after its call was given up never starts and is removed.
test('removes what was made too late', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  engine.createAfter(promise);
  await expect(runIn(sandboxAt(engine.host), KNOWN, { timeoutMs: 200 })).rejects.toThrow('not done');
  resolve();
  await eventually(() => expect(engine.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(2));
  await eventually(() => expect(engine.containers.size).toBe(0));
  expect(engine.requests.filter((request) => request.endsWith('/start'))).toEqual([]);
});

// Guards: what a crashed worker left is removed when its time is over; containers of others, and those in use, stay.
test('sweeps up after a crash', async () => {
  const left = (name: string, Labels: Record<string, string>) =>
    engine.containers.set(name, { name, order: { Labels }, isStarted: true });
  left('late', { [DEADLINE_LABEL]: String(Date.now() - 1) });
  left('under-way', { [DEADLINE_LABEL]: String(Date.now() + 60_000) });
  left('somebody-elses', {});
  const stop = sandboxAt(engine.host).startSweeping(createLog({ level: 'silent' }));
  await eventually(() => expect([...engine.containers.keys()]).toEqual(['under-way', 'somebody-elses']));
  stop();
});

const REAL_HOST = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock';
/** Any with a shell and the usual programs; it must be there, as none is pulled. */
const REAL_IMAGE = process.env.TEST_DOCKER_IMAGE ?? 'busybox';
const real = sandboxAt(REAL_HOST);
const shell = (script: string, options?: Parameters<typeof runIn>[2]) =>
  runIn(real, { image: REAL_IMAGE, argv: ['sh', '-c', script] }, options);
const missing = await shell('true', { timeoutMs: 20_000 }).then(
  () => undefined,
  (error: Error) => error.message,
);
if (missing) {
  const hint = `needs Docker at ${REAL_HOST} (DOCKER_HOST) with the image ${REAL_IMAGE} (TEST_DOCKER_IMAGE)`;
  process.stderr.write(`\n*** SKIPPED: nothing is proved here about real containers; ${hint}: ${missing}\n\n`);
}
const inDocker = missing ? test.skip : test;

inDocker('a real container has nothing of the machine', async () => {
  const { stdout } = await shell(
    `
    cat; id -u; env; cat /etc/shadow 2> /dev/null
    for dir in / /etc /usr /bin /proc/sys/kernel /sys; do touch $dir/x 2> /dev/null && echo wrote $dir; done
    touch /tmp/x && echo own /tmp; ls /sys/class/net
    (echo x > /proc/sysrq-trigger) 2> /dev/null && echo wrote sysrq
    for address in 127.0.0.1:22 169.254.169.254:80 172.17.0.1:80; do
      wget -q -T 1 -O - http://$address 2> /dev/null && echo reached $address
    done
    grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status`,
    { stdin: '{"a":1}\n', timeoutMs: 20_000 },
  );
  expect(stdout).toMatch(/^\{"a":1\}\n65534\n/);
  expect(stdout).not.toMatch(/wrote|reached|root:/);
  expect(stdout).toMatch(/own \/tmp\nlo\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n$/);
});
inDocker('a real container that takes everything is ended', async () => {
  const timeoutMs = 4_000;
  const attempts: [string, RegExp][] = [
    ['while :; do :; done', /not done within 4 seconds/],
    ['trap "" TERM; while :; do sleep 1; done', /not done within/],
    ['bomb() { bomb | bomb & }; bomb; sleep 100', /not done within/],
    ['cat /dev/zero', /wrote more than|not done/],
    ['tail /dev/zero', /exit 137|not done/],
    ['dd if=/dev/zero of=/tmp/x bs=1M count=1000', /exit 1|not done/],
    ['setsid sleep 1000 & echo started', /exit 0/],
  ];
  for (const [script, expected] of attempts) {
    const began = performance.now();
    const ending = await shell(script, { timeoutMs }).then(
      ({ exitCode }) => `exit ${exitCode}`,
      (error: Error) => error.message,
    );
    expect(`${script}: ${ending}`).toMatch(expected);
    expect(performance.now() - began).toBeLessThan(timeoutMs + sized(20_000, 2_000));
    tried('containers that take everything, ended');
  }
});
