/**
 * How an action finds what it works on: by shape, so that it fits into any pipeline whatever its steps are called.
 *
 * Steps of its own phase come before earlier phases. Among each, those that the action's instructions name come first,
 * in the order in which they are named; the rest follow by slug.
 */
import { z } from 'zod';
import { ActionError, type ActionContext } from '../action.ts';

export interface Source {
  slug: string;
  value: unknown;
}

type Sources = Pick<ActionContext, 'inputs' | 'artifacts' | 'instructions'>;

const SLUG = /[a-z0-9_-]+/gi;

export function sourcesOf({ inputs, artifacts, instructions }: Sources): Source[] {
  const named = [...(instructions ?? '').matchAll(SLUG)].map(([word]) => word);
  const rank = (slug: string) => (named.includes(slug) ? named.indexOf(slug) : named.length);
  const inOrder = (values: Record<string, unknown>) =>
    Object.keys(values)
      .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
      .map((slug) => ({ slug, value: values[slug] }));
  return [...inOrder(inputs), ...inOrder(artifacts)];
}

/** Every part of that shape. */
export const allParts = <S extends z.ZodType>(context: Sources, schema: S): z.output<S>[] =>
  sourcesOf(context).flatMap(({ value }) => {
    const parsed = schema.safeParse(value);
    return parsed.success ? [parsed.data] : [];
  });

export const findPart = <S extends z.ZodType>(context: Sources, schema: S): z.output<S> | undefined =>
  allParts(context, schema)[0];

/**
 * @param what named in the refusal: `slides to show`
 * @param key the property that makes a part one of that kind, so that a near miss is explained
 * @throws ActionError that says what is missing and what was there instead
 */
export function requirePart<S extends z.ZodType>(context: Sources, what: string, key: string, schema: S): z.output<S> {
  const found = findPart(context, schema);
  if (found !== undefined) return found;
  const sources = sourcesOf(context);
  for (const { slug, value } of sources) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) continue;
    const { error } = schema.safeParse(value);
    if (error)
      throw new ActionError(`the ${what} in "${slug}" cannot be used: ${z.prettifyError(error).slice(0, 500)}`);
  }
  const seen = sources.map(({ slug }) => slug).join(', ') || 'nothing';
  throw new ActionError(`missing ${what}: no earlier step or phase gave an object with "${key}" (there is: ${seen})`);
}

/** Shown and printed, hence not without words. */
export const Words = z.string().trim().min(1);
