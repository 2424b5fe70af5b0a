import { CHORES, type Chore } from '../../../workflows/housekeeper/chores.ts';

export type Work = (signal: AbortSignal) => Promise<unknown>;

/** @param own chores of the test; the others are done by what `other` gives */
export const allChores = (own: Partial<Record<Chore, Work>>, other: (chore: Chore) => Work) =>
  Object.fromEntries(CHORES.map((chore) => [chore, own[chore] ?? other(chore)])) as Record<Chore, Work>;
