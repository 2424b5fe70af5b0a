/**
 * Finds the material of an action by its shape, so that the action fits into any pipeline, whatever the steps are
 * called.
 *
 * Steps of its own phase come before earlier phases. Within each of the two, those that the action's instructions name
 * come first, in the order in which they are named; the others follow by slug.
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

/** @returns every part of that shape */
export const allParts = <S extends z.ZodType>(context: Sources, schema: S): z.output<S>[] =>
  sourcesOf(context).flatMap(({ value }) => {
    const parsed = schema.safeParse(value);
    return parsed.success ? [parsed.data] : [];
  });

export const findPart = <S extends z.ZodType>(context: Sources, schema: S): z.output<S> | undefined =>
  allParts(context, schema)[0];

/**
 * @param what is named in the refusal, for example `slides to show`
 * @param key is the property that marks a part as one of this kind; a part that has it and does not fit is explained
 * @throws ActionError that says what is missing and what was found instead
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

/** These texts are shown and printed, so they must not be empty. */
export const Words = z.string().trim().min(1);
