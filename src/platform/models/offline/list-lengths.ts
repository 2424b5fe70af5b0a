/** Decides how many items a list gets, as far as its schema leaves that open. */
import type { StepPrompt } from './step-prompt.ts';
import { findItems } from './upstream.ts';

/** By the name of a list, its usual length. */
const COUNTS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    facts: 4,
    sections: 4,
    messages: 5,
    slides: 5,
    pages: 8,
    arc: 6,
    points: 3,
    acceptance: 2,
    stickers: 6,
    exercises: 8,
    weekly: 12,
    habits: 4,
    doubts: 4,
    lines: 4,
    tags: 5,
    search_terms: 6,
    areas: 4,
    endpoints: 5,
  }),
);
const USUAL_COUNT = 3;
const MOST_WISHED = 12;
/** A drawing takes a few hundred tokens. */
const MOST_DRAWINGS = 8;

/**
 * @param hasDrawings each item holds a drawing
 * @returns as many as the list upstream that this one continues, as a parameter of the project asks for, or as usual
 */
export function listLength(name: string, step: StepPrompt | undefined, hasDrawings: boolean): number {
  const beside = step ? findItems(step.upstream, name)?.length : undefined;
  const wish = Number(step?.params[name] ?? (name === 'stickers' ? step?.params.count : undefined));
  const wished = Number.isInteger(wish) && wish > 0 ? wish : (COUNTS.get(name) ?? USUAL_COUNT);
  return Math.min(beside ?? wished, hasDrawings ? MOST_DRAWINGS : MOST_WISHED);
}
