/** Jobs for the tests of the pool: plain enough for a thread to load as they are. */
export const double = (value: number): number => value * 2;

export function spin(): never {
  for (;;) Math.random();
}

export function hoard(): number {
  const kept: number[][] = [];
  for (;;) kept.push(new Array<number>(1_000_000).fill(kept.length + 0.5));
}

export function refuse(): never {
  throw new TypeError('not this one');
}
