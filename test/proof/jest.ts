/**
 * A proof that consists of tests of `npm test`, run at full size (`test/support/runner/sizes.ts`) on a native Postgres and a
 * Temporal of their own. Each test that fails is a violation; one that was skipped is said.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { present } from '../../src/platform/core/present.ts';
import { endWithUs, removeWithUs } from '../bench/processes.ts';
import { FOR_TESTS, startNativePostgres } from '../support/database/native-postgres.ts';
import { prove, type Outcome, type ProofResult, type ProofRun } from './report.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What jest's `--json` says, as far as it is read here. */
interface JestReport {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: {
      fullName: string;
      status: 'passed' | 'failed' | 'pending' | 'skipped' | 'todo' | 'disabled';
      failureMessages: string[];
      numPassingAsserts: number;
    }[];
  }[];
}

interface TestsOptions {
  /** Paths from the root, or the beginning of several. */
  tests: readonly string[];
  /** Settings for the tests. */
  env?: Record<string, string>;
  /** One file after another, where a claim is about time. */
  inTurn?: boolean;
}

/** The whole of a proof that is nothing but tests. */
export const proveByTests = ({
  name,
  claim,
  title,
  ...tests
}: Pick<ProofResult, 'name' | 'claim' | 'title'> & TestsOptions): Promise<never> =>
  prove({ name, claim, title }, (run) => runTests(run, tests));

async function runTests(
  { seed, small, say, repeat }: ProofRun,
  { tests, env = {}, inTurn = false }: TestsOptions,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-proof-'));
  removeWithUs(folder);
  const [reportFile, triedFile] = [join(folder, 'report.json'), join(folder, 'tried.jsonl')];
  await writeFile(triedFile, '');
  const postgres = await startNativePostgres(FOR_TESTS);
  if (typeof postgres === 'string') throw new Error(`no native Postgres: ${postgres}`);
  say(`${tests.join(' ')} on a native Postgres`);
  const child = spawn(
    process.execPath,
    [
      'node_modules/jest/bin/jest.js',
      ...['--json', `--outputFile=${reportFile}`, `--seed=${seed}`, `--testTimeout=${small ? 120_000 : 600_000}`],
      ...(inTurn ? ['--runInBand'] : []),
      ...tests,
    ],
    {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        ...env,
        TEST_DATABASE_URL: postgres.url,
        PROOF_SIZE: small ? 'small' : 'full',
        PROOF_SEED: String(seed),
        PROOF_TRIED: triedFile,
      },
    },
  );
  endWithUs(present(child.pid));
  const skips = new Set<string>();
  for await (const line of createInterface({ input: child.stderr })) {
    const [, reason] = /^\*\*\* SKIPPED: (.*)/.exec(line) ?? [];
    if (reason) skips.add(reason);
    if (reason || /^(PASS|FAIL) /.test(line)) say(line);
  }
  if (child.exitCode === null) await once(child, 'exit');
  await postgres.stop();
  return outcomeOf(
    JSON.parse(await readFile(reportFile, 'utf8')),
    await readFile(triedFile, 'utf8'),
    [...skips],
    repeat,
  );
}

function outcomeOf({ testResults }: JestReport, triedText: string, skips: string[], repeat: string): Outcome {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = all.filter(({ status }) => status === 'passed');
  const did: Outcome['did'] = { tests: passed.length };
  for (const line of triedText.split('\n').filter(Boolean)) {
    const [what, count] = JSON.parse(line) as [string, number];
    did[what] = ((did[what] as number | undefined) ?? 0) + count;
  }
  did['assertions'] = passed.reduce((sum, { numPassingAsserts }) => sum + numPassingAsserts, 0);
  skips.forEach((reason, i) => (did[`SKIPPED ${i + 1}`] = reason));
  const violations = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    const file = relative(ROOT, name);
    // A file that could not be loaded, or whose preparation failed, has no test of its own to blame.
    if (status === 'failed' && failed.length === 0) return [{ what: `${file}: ${firstLines(message)}`, repeat }];
    return failed.map(({ fullName, failureMessages }) => ({
      what: `${file}: ${fullName}: ${firstLines(failureMessages.join('\n'))}`,
      repeat,
    }));
  });
  if (passed.length === 0) violations.push({ what: 'no test passed at all', repeat });
  return { did, violations };
}

/** Without colours, and without the stack. Of a property what went wrong comes before the example, which may be long. */
function firstLines(message: string): string {
  const [told, cause] = message.replace(/\u001b\[\d+m/g, '').split(/\n\s*Cause:\s*\n/);
  const [said, why] = [told, cause].map((part) => part?.split(/\n\s+at /)[0]!.trim());
  return (why === undefined ? present(said) : `${why.slice(0, 3_000)}\n${present(said)}`).slice(0, 4_500);
}
