/** The table in `docs/operate/proof.md`, made of the results that `npm run proof:<name> -- --record` keeps. `npm run docs:proof` */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { CLAIMS, type Claim } from './claims.ts';
import type { ProofResult } from './report.ts';

const PAGE = fileURLToPath(new URL('../../docs/operate/proof.md', import.meta.url));
const RESULTS = fileURLToPath(new URL('../../docs/proof/', import.meta.url));
const TABLE = /(<!-- proofs -->\n)[\s\S]*?(<!-- \/proofs -->)/;

const HEAD = ['', 'Holds', 'Command', 'Tried', 'Calls outside faults', 'Violations', 'Seed', 'Took', 'Date', 'Machine'];

/** @param resultOf what was kept of a proof; undefined when it has not run */
export function proofTable(resultOf: (claim: Claim) => ProofResult | undefined): string {
  const rows = CLAIMS.map((claim) => {
    const command = `\`npm run proof:${claim.proof}\``;
    const result = resultOf(claim);
    if (!result) return [claim.id, claim.holds, command, 'not run yet', '', '', '', '', '', ''];
    const { did, successRate, violations, seed, tookS, date, machine } = result;
    // What begins with a dash breaks the line before it down; the file beside the page has it.
    const counts = Object.entries(did).filter(([what]) => !what.startsWith('- '));
    const tried = counts.map(([what, count]) => `${what}: ${count}`);
    return [
      ...[claim.id, claim.holds, command, tried.join(', ')],
      successRate === undefined ? '' : `${(successRate * 100).toFixed(1)}% ok`,
      ...[violations.length, seed, duration(tookS), date, machine].map(String),
    ];
  });
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(HEAD), line(HEAD.map(() => '---')), ...rows.map(line)].join('\n');
}

const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;

export async function proofPage(): Promise<{ current: string; wanted: string }> {
  const current = await readFile(PAGE, 'utf8');
  const kept = new Map<string, ProofResult>();
  for (const { proof } of CLAIMS) {
    const file = `${RESULTS}${proof}.json`;
    if (existsSync(file)) kept.set(proof, JSON.parse(await readFile(file, 'utf8')) as ProofResult);
  }
  const table = proofTable(({ proof }) => kept.get(proof));
  const text = current.replace(TABLE, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
  return { current, wanted: await format(text, { ...(await resolveConfig(PAGE)), filepath: PAGE }) };
}

if (import.meta.main) await writeFile(PAGE, (await proofPage()).wanted);
