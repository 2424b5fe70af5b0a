/** Who may import whom in the console (see README, "Structure"). */
module.exports = {
  forbidden: [
    {
      name: 'console-speaks-http',
      comment: 'It knows the service by its API alone.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^(src|workflows|activities|test)/' },
    },
    {
      name: 'parts-know-no-resource',
      severity: 'error',
      from: { path: '^console/src/(ui|api|live)/' },
      to: { path: '^console/src/(features|routes)/' },
    },
    {
      name: 'pages-are-reached-by-address',
      comment: 'A page is a chunk of its own, which the router loads.',
      severity: 'error',
      from: { path: '^console/src/', pathNot: '^console/src/router\\.tsx$' },
      to: { path: '^console/src/routes/' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.(css|svg|webp)$' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'browser', 'types', 'default'] },
  },
};
