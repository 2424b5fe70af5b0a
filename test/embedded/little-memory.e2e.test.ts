/** The whole service in no more memory than the README asks for, and what is said where there is less. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import type { CheckResult } from '../../src/cli/findings.ts';
import { readCredentials } from '../../src/embedded/credentials.ts';
import { inMB, LEAST_MEMORY } from '../../src/embedded/memory.mjs';
import { makeMemoryGroup } from '../support/processes/memory-group.ts';
import { isMissing, reasonOf } from '../support/programs/missing.ts';
import { readyLine, startCli, type CliProcess, type ReadyLine } from './service-process.ts';

const SET_UP = fileURLToPath(new URL('../../src/embedded/setup.mjs', import.meta.url));
const RUNS = 150;
const CALLERS = 20;
/** It starts twice, and its work takes longer in little memory. */
const TIMEOUT_MS = 300_000;

const reason = await reasonOf(makeMemoryGroup(LEAST_MEMORY).then((group) => group.close()));
const withGroups = isMissing('the memory that the service needs', reason) ? test.skip : test;
const folder = await mkdtemp(join(tmpdir(), 'aos-memory-'));
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 }));

/** What npm does, in the group: no option of the run of tests is given to it. */
const inGroup = (launcher: readonly string[], ...args: string[]): CliProcess => {
  const env = { PORT: '0', CONTROL_PLANE_PORT: '0', DATA_DIR: join(folder, 'data'), NODE_OPTIONS: '' };
  return startCli(args, env, undefined, [...launcher, process.execPath, SET_UP, '--']);
};

/** @returns how many runs of each status there are when none is under way any more */
async function work({ base_url, api_key }: ReadyLine): Promise<Record<string, number>> {
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
  let left = RUNS;
  const caller = async () => {
    for (; left > 0;) {
      const prompt = `What is 2 + ${left--}? [[tool:calculator {"expression":"2+3"}]]`;
      const body = JSON.stringify({ agent: 'assistant', prompt });
      const { status } = await fetch(`${base_url}/v1/runs`, { method: 'POST', headers, body });
      expect(status).toBe(201);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const credentials = await readCredentials(join(folder, 'data'));
  const cookie = `service_session=${credentials?.session_cookie}`;
  for (;;) {
    const answer = await fetch(`${base_url}/api/v1/cp/v1/runs/counts`, { headers: { cookie } });
    const counts: Record<string, number> = JSON.parse(await answer.text());
    if (!counts.queued && !counts.running) return counts;
    await setTimeout(200);
  }
}

// Guards: the memory that the README and `aos doctor` name is enough for a first start, for work, and for a start on what that left.
withGroups(
  `starts and works in ${inMB(LEAST_MEMORY)}`,
  async () => {
    const group = await makeMemoryGroup(LEAST_MEMORY);
    let service: CliProcess | undefined;
    try {
      for (const already of [0, RUNS]) {
        service = inGroup(group.launcher, 'start');
        const counts = await work(await readyLine(service));
        expect(counts).toMatchObject({ succeeded: already + RUNS, failed: 0 });
        service.child.kill('SIGTERM');
        expect(await service.ended).toBe(0);
      }
      expect(await group.killed()).toBe(0);
    } finally {
      // Of one that has ended nothing is left to be ended.
      service?.child.kill('SIGTERM');
      await service?.ended;
      await group.close();
    }
  },
  TIMEOUT_MS,
);

// Guards: whoever gives less is told so, by `aos doctor` and by the start.
withGroups.each([
  [LEAST_MEMORY, 'ok'],
  [LEAST_MEMORY / 2, 'failed'],
])('aos doctor in %s bytes: %s', async (bytes, status) => {
  const group = await makeMemoryGroup(bytes);
  const doctor = inGroup(group.launcher, 'doctor', '--json');
  await doctor.ended;
  const findings: CheckResult[] = JSON.parse(doctor.stdout());
  expect(findings.find(({ check }) => check === 'memory')).toMatchObject({
    status,
    detail: expect.stringContaining(inMB(bytes)),
  });
  await group.close();
});
