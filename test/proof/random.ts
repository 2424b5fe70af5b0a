import { itemAt } from '../../src/platform/core/present.ts';

/** Randomness that a seed repeats: a proof makes its choices from this alone. */

/** mulberry32. @returns numbers in [0, 1) */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number, both ends included. */
export const between = (random: () => number, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));

export const pick = <T>(random: () => number, items: readonly T[]): T =>
  itemAt(items, Math.floor(random() * items.length));

/** @param weights what is picked, with how often it is picked beside the others */
export function pickWeighted<T>(random: () => number, weights: readonly (readonly [T, number])[]): T {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  let left = random() * total;
  for (const [item, weight] of weights) if ((left -= weight) < 0) return item;
  return itemAt(weights, -1)[0];
}

export function shuffled<T>(random: () => number, items: readonly T[]): T[] {
  const list = [...items];
  for (let last = list.length - 1; last > 0; last--) {
    const other = between(random, 0, last);
    [list[last], list[other]] = [itemAt(list, other), itemAt(list, last)];
  }
  return list;
}
