/**
 * Resources and what they know of each other, types included: no circles. A file of its own, as only resources are in this
 * graph; what else there is leads from each to each.
 */
import { createRequire } from 'node:module';

const { options } = createRequire(import.meta.url)('./.dependency-cruiser.cjs');

/** That a project is completed and what is sent of it are one transaction. */
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
