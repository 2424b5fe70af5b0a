/** The proof of lost answers at its small size, as the process that it is. */
import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isMissing } from '../support/programs/missing.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

// Guards: a statement that was carried out counts once, even where its answer is lost; this is tried for each
// statement.
test('proof:acks, small', async () => {
  const [code, said, log] = await promisify(execFile)(process.execPath, ['test/proof/acks.ts', '--small'], {
    cwd: ROOT,
    maxBuffer: 2 ** 24,
  }).then(
    ({ stdout }) => [0, stdout, ''] as const,
    (error: { code: number; stdout: string; stderr: string }) => [error.code, error.stdout, error.stderr] as const,
  );
  const [, reason] = /no native Postgres: (.*)/.exec(log) ?? [];
  if (isMissing('lost answers', reason)) return;
  if (code !== 0) throw new Error(`${log.slice(-2_000)}\n${said.slice(said.search(/\d+ violation|NOT PROVED/))}`);
  expect(said).toMatch(/statements that write, all +\d+ of/);
}, 1_200_000);
