/** Which statements and calls were met by the proof of lost answers, by their own words, and which were cut off. */
import { createHash } from 'node:crypto';
import { present } from '../../src/platform/core/present.ts';

/** After the first time, a process that loses one answer after another would get nothing done. */
const GAP_MS = 3_000;

export type Coverage = ReturnType<typeof createCoverage>;

/** Of what was met, and of what no answer came. */
export function createCoverage(times: number) {
  const met = new Map<string, number>();
  const cut = new Map<string, number>();
  let newAt = Date.now();
  let cutAt = 0;
  const add = (counts: Map<string, number>, what: readonly string[]) => {
    for (const each of what) counts.set(each, (counts.get(each) ?? 0) + 1);
  };
  return {
    met,
    cut,
    quietMs: () => Date.now() - newAt,
    /** @returns whether the answer is to be lost */
    meet(what: readonly string[]): boolean {
      add(met, what);
      const isNew = what.some((each) => !cut.has(each));
      const isDue = Date.now() - cutAt > GAP_MS && what.some((each) => (cut.get(each) ?? 0) < times);
      if (!isNew && !isDue) return false;
      if (isNew) newAt = Date.now();
      cutAt = Date.now();
      add(cut, what);
      return true;
    },
  };
}

export const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((all, one) => all + one, 0);

/** A statement without what differs from one time to the next: the number of its parameters, and of its rows. */
export const shapeOf = (text: string): string =>
  text
    .replaceAll(/\$\d+/g, '$')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(\((?:[^()]|\(\))*\$[^()]*\))(, \((?:[^()]|\(\))*\$[^()]*\))+/g, '$1')
    .trim();

const WRITES = /\b(insert into|delete from|(?<!for |for no key )update(?! set)) "?([a-z_]+)/gi;
export const tablesOf = (text: string): string[] => [...text.matchAll(WRITES)].map(([, , table]) => present(table));

/** What it writes, and what tells it from others that write the same. */
export const nameOf = (text: string): string => {
  const parts = [...text.matchAll(WRITES)].map(([, verb, table]) => `${present(verb).split(' ')[0]} ${table}`);
  return `${[...new Set(parts)].join(', ')} #${createHash('sha1').update(text).digest('hex').slice(0, 4)}`;
};
