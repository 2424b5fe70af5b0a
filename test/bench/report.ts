/** Figures beside their targets, as a Markdown table. It reports; it does not judge: judging is the reader's. */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { first, present } from '../../src/platform/core/present.ts';

export interface Row {
  measure: string;
  unit: string;
  product: number;
  bare?: number;
  /** Product to bare. */
  ratio?: number;
  /** Of the ratio where it says x, else of the product's figure. */
  target?: string;
  met?: string;
}

export interface Target {
  atMost?: number;
  atLeast?: number;
  /** Strictly. */
  below?: number;
  /** A harder one, same direction. */
  stretch?: number;
}

/** Nearest rank: a value that was measured. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)] ?? NaN;
}

export const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** The product beside the bare floor; the target is about their ratio. */
export const compared = (measure: string, unit: string, product: number, bare: number, target?: Target): Row => {
  const ratio = product / bare;
  return { measure, unit, product, bare, ratio, ...judged(ratio, target, ' x') };
};

/** A figure of the product alone; the target is about the figure. */
export const alone = (measure: string, unit: string, product: number, target?: Target): Row => ({
  measure,
  unit,
  product,
  ...judged(product, target, ` ${unit}`),
});

function judged(value: number, target: Target | undefined, unit: string): Pick<Row, 'target' | 'met'> {
  if (!target) return {};
  const { atMost, atLeast, below, stretch } = target;
  const limit = present(atMost ?? atLeast ?? below);
  // As printed: a thousandth decides nothing.
  const shown = Number(value.toFixed(2));
  const meets = (limit: number) =>
    atMost !== undefined ? shown <= limit : atLeast !== undefined ? shown >= limit : shown < limit;
  const sign = atMost !== undefined ? '≤' : atLeast !== undefined ? '≥' : '<';
  return {
    target: `${sign} ${limit}${unit}${stretch ? `, stretch ${stretch}${unit}` : ''}`,
    met: meets(limit) ? (stretch && meets(stretch) ? 'yes, stretch too' : 'yes') : 'no',
  };
}

/** The machine that the figures are of. */
export const machine = () => ({
  date: new Date().toISOString(),
  node: process.version,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  load: Number(first(loadavg()).toFixed(2)),
});

const figure = (value: number | undefined, unit: string): string =>
  value === undefined ? '' : `${value.toFixed(value >= 1_000 ? 0 : value >= 100 ? 1 : 2)} ${unit}`;

interface About extends ReturnType<typeof machine> {
  quick: boolean;
}

export function markdown(rows: readonly Row[], about: About): string {
  const cells = rows.map(({ measure, unit, product, bare, ratio, target, met }) => [
    measure,
    figure(product, unit),
    figure(bare, unit),
    ratio === undefined ? '' : `${ratio.toFixed(2)} x`,
    target ?? '',
    met ?? '',
  ]);
  const table = [
    ['Measure', 'Product', 'Bare', 'Ratio', 'Target', 'Met'],
    ['---', '---:', '---:', '---:', '---', '---'],
    ...cells,
  ];
  return [
    `# Benchmark${about.quick ? ', quick: too short to mean much' : ''}`,
    '',
    `${about.date}, Node ${about.node}, ${about.cores} cores (${about.cpu}), load average ${about.load} before the start.`,
    'Bare: three empty activities in a Temporal workflow behind the smallest Express front, same server flags.',
    '',
    ...table.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
}
