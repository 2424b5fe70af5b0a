/** Who may answer what waits is decided in one place and one language: `src/resources/inbox/sql/who_may_answer.sql`. */
import { expect, test } from '@jest/globals';
import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OWNER = 'src/resources/inbox/sql/who_may_answer.sql';

/** Files that are told whom a gate names, to check it when it is written or to show it. */
const SHOWS = [
  'src/resources/inbox/contract.ts',
  'src/resources/templates/gates/contract.ts',
  'src/resources/templates/gates/model.ts',
  'src/resources/projects/decisions/votes.ts',
  'src/resources/projects/decisions/delegate-gate.ts',
];

const CODE = '{src,activities,workflows}/**/*.{ts,sql}';

async function filesWith(pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for await (const file of glob(CODE, { cwd: ROOT })) {
    const text = (await readFile(`${ROOT}/${file}`, 'utf8')).replace(/^\s*(--|\/\/|\*|\/\*).*$/gm, '');
    if (pattern.test(text)) found.push(file);
  }
  return found.sort();
}

// Guards against: a statement with rules of its own about whom a configuration lets answer.
test('the functions that read a configuration are called by their own file alone', async () => {
  expect(await filesWith(/\b(is_among|may_answer)\(/)).toEqual([OWNER]);
});

// Guards against: SQL that looks into the configuration of a gate for who may answer.
test('no other SQL reads whom a gate names', async () => {
  const named = /(gate_config|\bconfig)\s*(->>?|\?)\s*'?\$?\{?\w*(approvers|escalate_to)\b/i;
  // A destination's configuration says whether it mails to the approvers, whom `seat_at` names.
  const ofDestinations = 'src/resources/output-destinations/store/notices.ts';
  expect((await filesWith(named)).filter((file) => file !== ofDestinations)).toEqual([OWNER]);
});

// Guards against: TypeScript that decides who may answer beside the database.
test('TypeScript reads whom a gate names only to check or show it', async () => {
  const reads = /\bapprovers\b[^:'"`\n]*\}\s*=|\.(approvers|escalate_to)\b|\bescalate_to\b[^:'"`\n]*\}\s*=/;
  const files = await filesWith(reads);
  expect(files.filter((file) => file.endsWith('.ts') && !SHOWS.includes(file))).toEqual([]);
});
