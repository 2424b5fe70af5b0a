/**
 * The frame of every proof: its options, its progress, what it prints at the end and its exit code. A proof says what it
 * tried, how much of it worked outside of the faults it made, and each violation with the way to see it again.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const RESULTS = fileURLToPath(new URL('../../docs/proof/', import.meta.url));

export interface Violation {
  /** What should have held, and what was seen instead, with ids. */
  what: string;
  /** A command that shows it again. */
  repeat: string;
}

/** One of the things that a proof shows one after another. */
export interface Check {
  what: string;
  tookMs: number;
  /** With numbers; what was wrong where it failed. */
  seen: string;
  isPassed: boolean;
}

export interface Outcome {
  /** What was done, in the order in which it is printed: `{kills: 112, runs: 840}`. */
  did: Record<string, number | string>;
  /** Of the calls outside of fault windows, from 0 to 1; left out where a proof makes no faults. */
  successRate?: number;
  violations: Violation[];
  /** Of a proof that is a list of them: printed as a table, and counted in the last line. */
  checks?: readonly Check[];
}

export interface ProofRun {
  seed: number;
  /** Asked for with `--small`: the size that tests run at. */
  small: boolean;
  say(text: string): void;
  /** `npm run proof:<name> -- --seed <seed>`, for a violation's `repeat`. */
  repeat: string;
}

/** As `docs/proof/<name>.json` keeps it. */
export interface ProofResult extends Outcome {
  name: string;
  /** R1, S3, ... */
  claim: string;
  title: string;
  date: string;
  tookS: number;
  seed: number;
  small: boolean;
  machine: string;
}

/** Calls outside of fault windows have to succeed, or a proof could pass while nothing works. */
const LEAST_SUCCESS = 0.95;

/**
 * Runs a proof as the process that it is: exit code 0 when nothing was violated, 1 when something was, 2 for bad options.
 * `--record` keeps a passed full run in `docs/proof/<name>.json`, of which `npm run docs:proof` makes the table.
 */
export async function prove(
  { name, claim, title }: Pick<ProofResult, 'name' | 'claim' | 'title'>,
  body: (run: ProofRun) => Promise<Outcome>,
): Promise<never> {
  const options = readOptions(name, title);
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const small = options.small;
  const repeat = `npm run proof:${name} -- --seed ${seed}${small ? ' --small' : ''}`;
  const startedAt = Date.now();
  const say = (text: string) =>
    process.stderr.write(`[${((Date.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s] ${text}\n`);
  say(`${claim}: ${title} (seed ${seed}${small ? ', small' : ''})`);
  const outcome = await body({ seed, small, say, repeat });
  const result: ProofResult = {
    name,
    claim,
    title,
    date: new Date(startedAt).toISOString().slice(0, 10),
    tookS: Math.round((Date.now() - startedAt) / 1_000),
    seed,
    small,
    machine: machine(),
    ...outcome,
  };
  process.stdout.write(printed(result));
  if (options.record && !small && isProved(result)) {
    await mkdir(RESULTS, { recursive: true });
    await writeFile(join(RESULTS, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  }
  process.exit(isProved(result) ? 0 : 1);
}

export const isProved = ({ violations, successRate = 1 }: Outcome): boolean =>
  violations.length === 0 && successRate >= LEAST_SUCCESS;

function readOptions(name: string, title: string): { seed?: number; small: boolean; record: boolean } {
  const usage = `Usage: npm run proof:${name} -- [options]
  ${title}
  --seed <n>  repeats the choices of an earlier run
  --small     the size that tests run at
  --record    keeps the result of a full run that passed in docs/proof/`;
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string' },
        small: { type: 'boolean', default: false },
        record: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(`${usage}\n`);
      process.exit(0);
    }
    if (values.seed !== undefined && !/^\d+$/.test(values.seed)) throw new Error('--seed takes a number');
    return {
      ...(values.seed !== undefined && { seed: Number(values.seed) }),
      small: values.small,
      record: values.record,
    };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`);
    process.exit(2);
  }
}

const machine = (): string =>
  `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version.slice(1)}`;

function printed(result: ProofResult): string {
  const { claim, title, did, successRate, violations, tookS, seed, machine: on, checks } = result;
  const percent = successRate === undefined ? [] : [['calls outside faults', `${(successRate * 100).toFixed(1)}% ok`]];
  const lines = [...Object.entries(did), ...percent].map(([what, count]) => `  ${what.padEnd(28)} ${count}`);
  const bad = violations.flatMap(({ what, repeat }, i) => [`  ${i + 1}. ${what}`, `     again: ${repeat}`]);
  const tooFew = successRate !== undefined && successRate < LEAST_SUCCESS;
  const end = tooFew
    ? `NOT PROVED: fewer than ${LEAST_SUCCESS * 100}% of calls outside faults succeeded`
    : violations.length === 0
      ? 'no violation'
      : `${violations.length} violation(s)\n${bad.join('\n')}`;
  const table = checks ? `${checksTable(checks)}\n` : '';
  const failed = checks?.filter(({ isPassed }) => !isPassed).length ?? 0;
  const last = checks ? `${checks.length - failed} passed, ${failed} failed\n` : '';
  return `\n${claim}: ${title}\n${table}${lines.join('\n')}\n  seed ${seed}, ${tookS} s, ${on}\n${end}\n${last}`;
}

function checksTable(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ what }) => what.length));
  const row = ({ what, tookMs, seen, isPassed }: Check) => {
    const took = `${(tookMs / 1_000).toFixed(1)} s`.padStart(8);
    return `  ${isPassed ? 'passed' : 'FAILED'}  ${took}  ${what.padEnd(width)}  ${seen}`;
  };
  return checks.map(row).join('\n');
}
