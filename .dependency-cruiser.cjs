/** Who may import whom. The folders are the architecture, and this file is what keeps it (see docs/architecture.md). */
const types = { dependencyTypesNot: ['type-only'] };
const RESOURCE = '^src/resources/([^/]+)/';

module.exports = {
  forbidden: [
    {
      name: 'sandbox',
      comment: 'Workflow code must replay for months: only its own kind, pure models and the SDK may be in the bundle.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        pathNot: [
          '^workflows/',
          '/model\\.ts$',
          '^src/platform/core/(present|priority|problem)\\.ts$',
          '@temporalio/(workflow|common)',
        ],
        ...types,
      },
    },
    {
      name: 'src-not-to-workflows',
      comment: 'Of workflows only the messages, which are data; the function itself as a type.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^workflows/', pathNot: '/messages\\.ts$', ...types },
    },
    {
      name: 'activities-only-in-the-worker',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(worker|compose/activities)\\.ts$' },
      to: { path: '^activities/', ...types },
    },
    {
      name: 'activities-below-services',
      comment: "Activities record and act; what a caller may do is the services' business.",
      severity: 'error',
      from: { path: '^activities/' },
      to: { path: ['/(service|routes|contract)\\.ts$', '^src/platform/http/'], ...types },
    },
    {
      name: 'pure-models',
      severity: 'error',
      from: { path: '/model\\.ts$', pathNot: '^test/' },
      to: { pathNot: ['/model\\.ts$', '^src/platform/core/'], ...types },
    },
    {
      name: 'contracts-are-data',
      severity: 'error',
      from: { path: '/contract\\.ts$' },
      to: { pathNot: ['/(model|contract)\\.ts$', '^src/platform/(core|http)/', 'node_modules/zod/'], ...types },
    },
    {
      name: 'routes-bind-only',
      severity: 'error',
      from: { path: '/routes\\.ts$' },
      to: { path: ['/(store|table)\\.ts$', '/store/', '^src/platform/db/'], ...types },
    },
    {
      name: 'resources-through-services',
      comment:
        'Of another resource only its model, its service, its contract and manifest, its store where a statement spans both, its table for foreign keys.',
      severity: 'error',
      from: { path: RESOURCE },
      to: {
        path: RESOURCE,
        pathNot: ['^src/resources/$1/', '/(model|service|table|store|contract|manifest)\\.ts$', '/store/[\\w-]+\\.ts$'],
        ...types,
      },
    },
    {
      name: 'project-store-has-queries',
      comment:
        'What happens to a project is decided beside the store, by files that use its queries; its index binds some.',
      severity: 'error',
      from: { path: '^src/resources/projects/store/', pathNot: '/index\\.ts$' },
      to: { path: '^src/resources/projects/(?!store/)[^/]+/', pathNot: '/(model|contract)\\.ts$', ...types },
    },
    {
      name: 'platform-knows-no-resource',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: ['^src/resources/', '^activities/', '^workflows/'], ...types },
    },
    {
      name: 'client-stands-alone',
      comment: 'It is a package of its own, without a dependency: what it knows of the service is generated into it.',
      severity: 'error',
      from: { path: '^client/src/' },
      to: { pathNot: '^client/src/' },
    },
    {
      name: 'client-for-callers',
      comment: 'The command line and the console call the service; the service itself is on the other side.',
      severity: 'error',
      from: { pathNot: '^(client|src/cli|console|test)/' },
      to: { path: '^client/' },
    },
    {
      name: 'client-by-its-entries',
      comment: 'Callers have what the package exports.',
      severity: 'error',
      from: { path: '^(src/cli|console)/' },
      to: { path: '^client/', pathNot: '^client/src/(index|api)\\.ts$' },
    },
    {
      name: 'product-needs-no-test',
      severity: 'error',
      from: { path: '^(src|workflows|activities|client)/' },
      to: { path: '^test/' },
    },
    {
      name: 'oracle-is-apart',
      comment:
        'It says what the specification says, as somebody else reads it, and asks the service from outside: what it shared with the service would be wrong in both.',
      severity: 'error',
      from: { path: '^test/oracle/' },
      to: { pathNot: ['^test/oracle/', '^node_modules/@temporalio/client/'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'console-is-apart',
      comment: 'The console is built and served as files: the service knows nothing of what is in them.',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/' },
      to: { path: '^console/' },
    },
    {
      name: 'schema-checks-off-the-loop',
      comment:
        'A large schema takes seconds: `schema-checks.ts` sends it to a thread. (A spec is checked in one as a whole.)',
      severity: 'error',
      from: {
        path: '^(src|activities)/',
        pathNot: '^src/(platform/core/(schema-checks|json-schema-thread)|resources/templates/contract)\\.ts$',
      },
      to: { path: '^src/platform/core/json-schema\\.ts$', ...types },
    },
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-circular-types',
      severity: 'error',
      from: { path: '^(src|activities|workflows|client/src)/', pathNot: '^client/src/generated/' },
      to: { circular: true },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(\\.cache|dist|client/dist)/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
