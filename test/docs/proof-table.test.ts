import { expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CLAIMS } from '../proof/claims.ts';
import { isProved, type ProofResult } from '../proof/report.ts';
import { proofPage, proofTable } from '../proof/table.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const scripts = (JSON.parse(readFileSync(path('../../package.json'), 'utf8')) as { scripts: Record<string, string> })
  .scripts;

// Guards: the page shows the stored results and nothing older.
test('docs/operate/proof.md has the current table', async () => {
  const { current, wanted } = await proofPage();
  if (current !== wanted) throw new Error('docs/operate/proof.md is out of date: npm run docs:proof');
});

// Guards: each guarantee has its row and its command, and each command has its row.
test('every claim has its proof', () => {
  const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, i) => `${letter}${i + 1}`);
  const ids = [...upTo('R', 14), ...upTo('S', 8)];
  expect(CLAIMS.map(({ id }) => id)).toEqual(ids);
  const commands = Object.keys(scripts).filter((name) => name.startsWith('proof:'));
  expect(commands.sort()).toEqual(CLAIMS.map(({ proof }) => `proof:${proof}`).sort());
  for (const { id, proof } of CLAIMS) {
    expect(scripts[`proof:${proof}`]).toContain(`test/proof/${proof}.ts`);
    const text = readFileSync(path(`../proof/${proof}.ts`), 'utf8');
    expect([proof, text.includes(`name: '${proof}'`), text.includes(`claim: '${id}'`)]).toEqual([proof, true, true]);
  }
});

// Guards: a stored result is a full run that passed, of a guarantee that exists.
test('what is kept was proved', () => {
  const folder = path('../../docs/proof/');
  for (const file of existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : []) {
    const result = JSON.parse(readFileSync(folder + file, 'utf8')) as ProofResult;
    const claim = CLAIMS.find(({ proof }) => `${proof}.json` === file);
    expect({ file, claim: result.claim, isProved: isProved(result), small: result.small }).toEqual({
      file,
      claim: claim?.id,
      isProved: true,
      small: false,
    });
  }
});

// Guards: a row says what was tried, and a missing result is shown as missing.
test('a row of the table', () => {
  const table = proofTable(({ id }) =>
    id === 'R1'
      ? {
          name: 'crash',
          claim: 'R1',
          title: 'Title',
          date: '2026-01-02',
          tookS: 125,
          seed: 7,
          small: false,
          machine: '2 cores',
          did: { kills: 112, runs: 'a|b' },
          successRate: 0.987,
          violations: [],
        }
      : undefined,
  ).split('\n');
  expect(table[2]).toContain(
    '| `npm run proof:crash` | kills: 112, runs: a\\|b | 98.7% ok | 0 | 7 | 2 min 5 s | 2026-01-02 | 2 cores |',
  );
  expect(table.slice(3).every((row) => row.includes('| not run yet |'))).toBe(true);
});
