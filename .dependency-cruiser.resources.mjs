/**
 * Forbids circles among resources, types included. It is a file of its own because its graph has resources alone; in a
 * graph of everything, each resource could be reached from every other.
 */
import { createRequire } from 'node:module';

const { options } = createRequire(import.meta.url)('./.dependency-cruiser.cjs');

/**
 * These two resources may know each other, because a project's completion and what is sent of it are one transaction.
 */
const EXCEPT = '/(projects|output-destinations)$';

export default {
  forbidden: [
    {
      name: 'no-circles-of-resources',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/resources/[^/]+$', pathNot: EXCEPT },
      to: { path: '^src/resources/[^/]+$', circular: true },
    },
  ],
  options: { ...options, includeOnly: '^src/resources/' },
};
