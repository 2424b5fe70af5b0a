/** Adds up what `drawn` (`sizes.ts`) recorded in all processes of a run, for its summary. */

/**
 * @param records one a line: what it is, how many of it were tried, how many there are
 * @returns nothing if everything was tried
 */
export function sampledLines(records: string, seed: string | undefined): string {
  const sums = new Map<string, { count: number; total: number }>();
  for (const line of records.trimEnd().split('\n')) {
    const [name, count, total]: [string, number, number] = JSON.parse(line);
    const before = sums.get(name) ?? { count: 0, total: 0 };
    sums.set(name, { count: before.count + count, total: before.total + total });
  }
  const sampled = [...sums].filter(([, { count, total }]) => count < total).sort(([a], [b]) => (a < b ? -1 : 1));
  if (sampled.length === 0) return '';
  const lines = sampled.map(([name, { count, total }]) => `  ${count} of ${total} ${name}`);
  return `Sampled with TEST_SEED=${seed}; a test that is named tries everything:\n${lines.join('\n')}`;
}
