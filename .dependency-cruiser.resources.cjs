/**
 * Resources and what they know of each other, types included: no circles. A file of its own, as only resources are in this
 * graph; what else there is leads from each to each.
 */
const { options } = require('./.dependency-cruiser.cjs');

/** That a project is completed and what is sent of it are one transaction. */
const EXCEPT = '/(projects|output-destinations)$';

module.exports = {
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
