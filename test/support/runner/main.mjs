/**
 * Runs `npm test`, which is Jest. `--small` leaves out the tests that take long; `--all` tries all of what tests otherwise
 * try a part of, drawn anew each run (`sizes.ts`).
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optionsOf } from './options.ts';
import { leftOut } from './parts.ts';
import { LONG } from './sequencer.mjs';

const HELP = `npm test -- [--small | --all] [what jest takes]

  --small                    without the files that take more than a few seconds (test/support/runner/long.txt)
  --all                      tries everything where a run otherwise draws a part: what .ci/run runs. Tests that are
                             named try everything too
  --rows                     also with some of the tests: holds the rows that raw SQL gave against their types
  --times                    tells which ten files took the most CPU (TEST_TIMES=all: all of them)
  test/resources/runs        some of the tests
  -t 'is answered'           those of that name
  --help                     this; what jest takes: npx jest --help

TEST_SEED=4711               draws what an earlier run drew, which printed it
CI=true                      a test that is skipped fails the run
TEST_DATABASE_URL=...        on that Postgres, with ten connections a service, in place of one that the tests start
TEST_DATABASE=embedded       on the embedded Postgres
`;

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
const { isSmall, withRows, withTimes, isWhole, areUnnamed, seed, forJest } = optionsOf(args, process.env);
if (seed !== undefined) process.stderr.write(`a part of what takes long is tried, drawn with TEST_SEED=${seed}\n`);
const leaving = [...(isSmall ? longOnes() : []), ...(seed !== undefined && areUnnamed ? leftOut(seed) : [])];
const rows = isWhole || withRows ? mkdtempSync(join(tmpdir(), 'aos-rows-')) : undefined;
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const child = spawn(process.execPath, [jest, ...forJest, ...without(leaving)], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_SEED: seed,
    NODE_OPTIONS: [
      process.env.NODE_OPTIONS,
      `--max-semi-space-size=${YOUNG_HEAP_MB}`,
      `--import=${WITHOUT_CALL_STACKS}`,
      rows && `--import=${RECORDING_ROWS}?to=${rows}`,
    ]
      .filter(Boolean)
      .join(' '),
    ...(withTimes && { TEST_TIMES: process.env.TEST_TIMES ?? 'most' }),
    // What a run does not draw it does not run.
    ...(rows && { TEST_ROWS: rows, TEST_ROWS_OF: isWhole && seed === undefined ? 'all' : 'some' }),
  },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.stdin.isTTY || child.kill(signal));
child.on('exit', (code) => {
  if (rows) rmSync(rows, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});

function longOnes() {
  const root = new URL('../../../', import.meta.url);
  const gone = LONG.filter((file) => !existsSync(fileURLToPath(new URL(file, root))));
  if (gone.length > 0) throw new Error(`test/support/runner/long.txt names what is not there: ${gone.join(', ')}`);
  return LONG;
}

function without(files) {
  if (files.length === 0) return [];
  return ['--testPathIgnorePatterns', ...files.map((file) => `/${file.replaceAll('.', '\\.')}$`)];
}
