/** Commands in the real bubblewrap, which try what reliability asks. */
import { homedir } from 'node:os';
import { expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createCommandSandbox } from '../../../src/platform/sandbox/command.ts';
import { SandboxError } from '../../../src/platform/sandbox/sandbox-error.ts';
import { createSlots } from '../../../src/platform/sandbox/slots.ts';
import { syscallFilter } from '../../../src/platform/sandbox/seccomp.ts';
import { bubblewrapProgram } from '../../support/programs/bubblewrap.ts';
import { isMissing } from '../../support/programs/missing.ts';
import { eventually } from '../../support/service/service.ts';
import { sized, tried } from '../../support/runner/sizes.ts';
import { portOf } from '../../support/processes/listening.ts';

jest.setTimeout(180_000);

const MB = 1_024 * 1_024;
const MEMORY_MB = 256;
const bubblewrap = await bubblewrapProgram();
const settings = { bubblewrap, memoryBytes: MEMORY_MB * MB, processes: 40, slots: createSlots(20) };
const sandbox = createCommandSandbox({ ...settings, isOn: true });
const inBubblewrap = isMissing('command tools', sandbox.problem()) ? test.skip : test;

const never = new AbortController().signal;
const run = (argv: string[], { stdin = '', timeoutMs = 5_000, signal = never } = {}) =>
  sandbox.run(argv, { stdin, timeoutMs, owner: 'acc_acme', signal });
const bash = (script: string, options?: Parameters<typeof run>[1]) => run(['bash', '-c', script], options);

/** Whether any process of the machine has this in its command line. */
const isRunning = async (words: string): Promise<boolean> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.some((line) => line.replaceAll('\0', ' ').trim() === words);
};

/** The promise is two seconds. How long a busy machine takes is no matter of a test, but of the proof. */
const MARGIN_S = sized(20, 2);

// Guards: a deployment that did not ask for command tools runs none.
test('is off unless it is on', async () => {
  const off = createCommandSandbox({ ...settings, isOn: false });
  expect(off.problem()).toContain('TOOLS_COMMAND');
  const request = { stdin: '', timeoutMs: 1_000, owner: 'acc_acme', signal: never };
  await expect(off.run(['true'], request)).rejects.toThrow(SandboxError);
});

// Guards: each element is one argument of the program, no shell reads it, and the input arrives.
inBubblewrap('runs a program', async () => {
  expect(await run(['printf', '%s|', 'a b', '$HOME', '; id', '`id`', '*', ''])).toEqual({
    exitCode: 0,
    stdout: 'a b|$HOME|; id|`id`|*||',
    stderr: '',
  });
  expect(await run(['cat'], { stdin: '{"a":"é"}' })).toMatchObject({ stdout: '{"a":"é"}' });
  expect(await bash('echo out; echo err >&2; exit 3')).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  expect(await bash('kill -9 $$')).toMatchObject({ exitCode: 137 });
  // NUL cannot be stored.
  expect(await run(['printf', 'a\\0b\\xff'])).toMatchObject({ stdout: 'ab\ufffd' });
  // One that does not read its input.
  expect(await run(['true'], { stdin: 'x'.repeat(MB) })).toMatchObject({ exitCode: 0 });
  expect(await run(['no-such-program'])).toMatchObject({ exitCode: 127 });
});
inBubblewrap('an argument that cannot be one is refused', async () => {
  await expect(run(['echo', 'a\0b'])).rejects.toThrow('NUL');
  await expect(run(['echo', 'x'.repeat(200_000)])).rejects.toThrow('too long');
});

// Guards: a command sees the machine's programs, and can read or change nothing else of the machine or the service.
inBubblewrap('sees nothing of the machine', async () => {
  process.env.SANDBOX_CANARY = 'canary-in-the-environment';
  const { stdout } = await bash(`
    env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'
    ls -A / /home/tool /etc /proc; cat /etc/shadow /etc/passwd ${import.meta.filename} ${process.cwd()}/package.json
    ls ${process.cwd()} ${homedir()} /home /var /run /sys /usr/src; cd /proc/1/root && ls`);
  delete process.env.SANDBOX_CANARY;
  for (const secret of ['canary', 'root:', 'package.json', 'test/']) expect(stdout).not.toContain(secret);
  expect(stdout).toContain('HOME=/home/tool');
  expect(stdout.split('\n').filter((line) => /^\d+$/.test(line)).length).toBeLessThan(12);
});
inBubblewrap('can write to its own files only', async () => {
  const { stdout } = await bash(`
    for dir in / /usr /usr/bin /etc /dev /proc /proc/sys/kernel /home; do touch $dir/x 2>/dev/null && echo wrote $dir; done
    for file in /proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sysrq-trigger; do
      # Opened for writing and no more: where the sandbox fails, the machine is not to suffer.
      (: >> $file) 2>/dev/null && echo wrote $file
    done
    for dir in /tmp /home/tool /dev/shm; do touch $dir/x && echo own $dir; done
    unshare --user --map-root-user true 2>/dev/null && echo a namespace
    mount -t tmpfs none /tmp 2>/dev/null && echo a mount
    grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status`);
  expect(stdout.split('\n').filter(Boolean)).toEqual([
    ...['own /tmp', 'own /home/tool', 'own /dev/shm'],
    ...['CapEff:\t0000000000000000', 'NoNewPrivs:\t1', 'Seccomp:\t2'],
  ]);
});

// Guards: a command cannot reach the database, Temporal, the metadata address or any other; a listener would notice.
inBubblewrap('reaches no address', async () => {
  let connections = 0;
  const server = createServer(() => connections++);
  await once(server.listen(0, '0.0.0.0'), 'listening');
  const port = portOf(server);
  const addresses = [`127.0.0.1/${port}`, `::1/${port}`, '169.254.169.254/80', '10.0.0.1/443', '1.1.1.1/443'];
  const tries = addresses.map((address) => `(exec 3<>/dev/tcp/${address}) 2>/dev/null && echo reached ${address}`);
  expect((await bash(`${tries.join('\n')}\necho tried; ls /sys/class/net`)).stdout).toBe('tried\n');
  await new Promise((closed) => server.close(closed));
  expect(connections).toBe(0);
});

// Guards: each kind of endless command is ended within its time and two seconds, alone and all together, and leaves
// nothing.
inBubblewrap('what takes everything gets little of it', async () => {
  const attempts: [script: string, ending: RegExp, timeoutMs?: number][] = [
    ['while :; do :; done', /not done within 1 seconds/],
    ['sleep 31415', /not done within/],
    ['trap "" TERM INT HUP; while :; do sleep 1; done', /not done within/],
    ['bomb() { bomb | bomb & }; bomb; sleep 100', /not done within/],
    ['while :; do sleep 271828 & done', /not done within|exit/],
    ['yes', /wrote more than/, 10_000],
    ['yes >&2', /wrote more than/, 10_000],
    ['cat /dev/zero', /wrote more than/, 10_000],
    ['tail /dev/zero', /exit [1-9]|used more than|not done/],
    ['for i in 1 2 3 4 5 6 7 8 9; do tail -c 100M /dev/zero | sleep 100 & done; wait', /used more than|not done/],
    [
      'for i in 1 2 3 4 5; do (x=$(head -c 100M /dev/zero | tr "\\0" x); sleep 100) & done; wait',
      /used more than|not done/,
    ],
    ['dd if=/dev/zero of=/tmp/a bs=1M count=10000', /exit [1-9]|not done/],
    ['for i in {1..30}; do head -c 60M /dev/zero > /tmp/$i || exit 9; done', /exit 9|not done/],
    ['(setsid sleep 31416 > /dev/null 2>&1 &); (setsid sleep 31417 &); echo started', /exit 0/, 10_000],
    ['exec > /dev/null 2>&1 < /dev/null; sleep 31418', /not done within/],
  ];
  const endingOf = async ([script, expected, timeoutMs = 1_000]: (typeof attempts)[number]) => {
    const began = performance.now();
    const ending = await bash(script, { timeoutMs }).then(
      ({ exitCode }) => `exit ${exitCode}`,
      (error: unknown) => (error instanceof SandboxError ? error.message : String(error)),
    );
    expect(`${script}: ${ending}`).toMatch(expected);
    expect((performance.now() - began) / 1_000).toBeLessThan(timeoutMs / 1_000 + MARGIN_S);
    tried('commands that take everything, ended');
  };
  for (let i = 0; i < attempts.length; i += 4) await Promise.all(attempts.slice(i, i + 4).map(endingOf));
  for (const time of [31415, 31416, 31417, 31418, 271828]) expect(await isRunning(`sleep ${time}`)).toBe(false);
});

// Guards: a command that is ended while its sandbox is still being made leaves nothing.
inBubblewrap('what is ended early is ended whole', async () => {
  const early = (timeoutMs: number) => expect(bash('sleep 1732050', { timeoutMs })).rejects.toThrow(/not done within/);
  for (let ms = 1; ms < 60; ms += 8) await Promise.all(Array.from({ length: 4 }, (_, i) => early(ms + 2 * i)));
  expect(await isRunning('sleep 1732050')).toBe(false);
});

// Guards: a cancelled run's command is ended at once.
inBubblewrap('a signal ends it', async () => {
  const controller = new AbortController();
  const running = run(['sleep', '1618'], { timeoutMs: 60_000, signal: controller.signal });
  const settled = expect(running).rejects.toMatchObject({ name: 'AbortError' });
  await eventually(async () => expect(await isRunning('sleep 1618')).toBe(true));
  controller.abort();
  await settled;
  expect(await isRunning('sleep 1618')).toBe(false);
});

// Guards: a worker that is killed ends its commands too.
inBubblewrap('ends with the process that started it', async () => {
  const { href } = new URL('../../../src/platform/sandbox/command.ts', import.meta.url);
  const request = `{ stdin: '', timeoutMs: 600_000, owner: 'a', signal: new AbortController().signal }`;
  const program = `const { createCommandSandbox } = await import('${href}');
    const slots = { run: (_owner, _signal, work) => work() };
    const sandbox = createCommandSandbox({ ...${JSON.stringify({ ...settings, slots: undefined })}, isOn: true, slots });
    await sandbox.run(['bash', '-c', 'sleep 2718'], ${request});`;
  const worker = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
  await eventually(async () => expect(await isRunning('sleep 2718')).toBe(true));
  worker.kill('SIGKILL');
  await eventually(async () => expect(await isRunning('sleep 2718')).toBe(false));
});

// Guards: system calls that get round the limits are refused, and those that programs need are not.
inBubblewrap('memory that no limit counts is refused', async () => {
  const { exitCode } = await run([
    'perl',
    '-e',
    'my $name = "x"; exit(syscall($ARGV[0] + 0, $name, 0) >= 0 ? 0 : $!{EPERM} ? 1 : 2)',
    process.arch === 'x64' ? '319' : '279',
  ]);
  expect(exitCode).toBe(1);
  expect(syscallFilter('riscv64')).toBeUndefined();
});
