/**
 * Reads the schemas of requests from the service's own description. Forms are made from them, so a form never lacks
 * what the service takes.
 */
import { queryOptions } from '@tanstack/react-query';

type Node = Readonly<Record<string, unknown>>;

async function load(): Promise<Record<string, Node>> {
  const response = await fetch('/openapi/control-plane.json', { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`The description of the service cannot be read (${response.status}).`);
  return ((await response.json()) as { components: { schemas: Record<string, Node> } }).components.schemas;
}

/** Puts the referenced schemas in the place of references. A schema that refers to itself is left as it is there. */
function whole(node: unknown, all: Record<string, Node>, within: readonly string[] = []): unknown {
  if (Array.isArray(node)) return node.map((each) => whole(each, all, within));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref: ref } = node as { $ref?: string };
  if (ref !== undefined) {
    const name = ref.slice(ref.lastIndexOf('/') + 1);
    return within.includes(name) ? {} : whole(all[name], all, [...within, name]);
  }
  return Object.fromEntries(Object.entries(node).map(([name, each]) => [name, whole(each, all, within)]));
}

export const schemaQuery = (name: string) =>
  queryOptions({
    queryKey: ['schemas'],
    queryFn: load,
    staleTime: Infinity,
    select: (all) => whole(all[name] ?? {}, all, [name]) as Node,
  });
