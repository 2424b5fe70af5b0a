/** Loads a package when it is first used: a start does not wait for it, and who never uses it has no memory in it. */
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/**
 * For what cannot wait for an `import()`.
 * @returns what gives the package; a later call gives the same
 */
export function whenUsed<Package>(name: string): () => Package {
  let loaded: Package | undefined;
  return () => (loaded ??= load(name) as Package);
}
