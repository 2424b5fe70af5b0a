/**
 * Runs `npm test`, which is Jest. A run of all files tries every file; long lists within a file are sampled with a seed that
 * the run prints (`sizes.ts`), unless the tests are named.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optionsOf, sampleOf } from './options.ts';

const HELP = `npm test -- [options] [what jest takes]

  --sample[=40]              draws that many files, for a quick look
  --rows                     also with some of the tests: checks the rows that raw SQL returned against their types
  --times                    prints the ten files that took the most CPU (TEST_TIMES=all: all of them)
  --write-times              writes the files that took long to test/support/runner/long.txt; they start first
  --verbose                  prints each test, and the output of every file, as a run of one file does
  test/resources/runs        some of the tests, with everything that they try; test/ is all of them
  -t 'is answered'           those of that name
  --help                     this; what jest takes: npx jest --help

TEST_SEED=4711               draws what an earlier run drew, which printed it
CI=true                      a test that is skipped fails the run
TEST_DATABASE_URL=...        on that Postgres, with ten connections a service, in place of one that the tests start
TEST_DATABASE=embedded       on the embedded Postgres

Output of tests and of the programs that they start is in .cache/test-output.log. The output of a file that fails is printed.
`;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/**
 * Room for what is made and soon forgotten, in MB. Node's own 16 are full every few tests, and looking through them took a
 * tenth of the work of all tests.
 */
const YOUNG_HEAP_MB = 64;
const WITHOUT_CALL_STACKS = new URL('no-call-stacks.mjs', import.meta.url).href;
const RECORDING_ROWS = new URL('../rows/preload.mjs', import.meta.url).href;

const args = process.argv.slice(2);
if (args.includes('--help')) {
  process.stdout.write(HELP);
  process.exit();
}
const { sampleSize, withRows, withTimes, writesTimes, isWhole, seed, forJest } = optionsOf(args, process.env);
const folder = mkdtempSync(join(tmpdir(), 'aos-test-'));
const rows = isWhole || withRows ? folder : undefined;
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const child = spawn(process.execPath, [jest, ...forJest, ...sampled()], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_SEED: seed,
    TEST_DRAWN: join(folder, 'drawn'),
    NODE_OPTIONS: [
      process.env.NODE_OPTIONS,
      `--max-semi-space-size=${YOUNG_HEAP_MB}`,
      `--import=${WITHOUT_CALL_STACKS}`,
      rows && `--import=${RECORDING_ROWS}?to=${rows}`,
    ]
      .filter(Boolean)
      .join(' '),
    ...(withTimes && { TEST_TIMES: process.env.TEST_TIMES ?? 'most' }),
    ...(writesTimes && { TEST_WRITE_TIMES: isWhole ? 'all' : 'some' }),
    ...(rows && { TEST_ROWS: rows, TEST_ROWS_OF: isWhole ? 'all' : 'some' }),
    ...(isWhole && { TEST_WHOLE: 'true' }),
  },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.stdin.isTTY || child.kill(signal));
child.on('exit', (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});

function sampled() {
  if (sampleSize === undefined) return [];
  const files = globSync('test/**/*.test.ts', { cwd: ROOT });
  const sample = sampleOf(files, sampleSize, seed);
  process.stderr.write(`${sample.length} of ${files.length} files, drawn with TEST_SEED=${seed}\n`);
  return ['--runTestsByPath', ...sample];
}
