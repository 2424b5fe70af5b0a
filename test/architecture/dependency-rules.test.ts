/**
 * The import rules of `.dependency-cruiser.cjs` bite: a small tree in which each of them is broken once, beside imports
 * that are allowed. `npm run check` holds the real tree to the same file.
 */
import { beforeAll, afterAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');

/** Rule, the file that breaks it, what that file imports. A path without `.ts` is a package. */
const FORBIDDEN: [rule: string, from: string, imported: string][] = [
  ['sandbox', 'workflows/run/workflow.ts', 'zod'],
  ['sandbox', 'workflows/run/zod-at-one-remove.ts', 'src/resources/runs/contract.ts'],
  ['sandbox', 'workflows/run/clock.ts', 'node:fs'],
  ['sandbox', 'workflows/shared/log.ts', 'src/platform/core/log.ts'],
  ['src-not-to-workflows', 'src/resources/runs/service.ts', 'workflows/run/workflow.ts'],
  ['activities-only-in-the-worker', 'src/compose/services.ts', 'activities/index.ts'],
  ['activities-below-services', 'activities/runs.ts', 'src/resources/runs/service.ts'],
  ['activities-below-services', 'activities/http.ts', 'src/platform/http/app.ts'],
  ['pure-models', 'src/resources/runs/model.ts', 'src/resources/runs/store/index.ts'],
  ['pure-models', 'src/resources/agents/model.ts', 'zod'],
  ['contracts-are-data', 'src/resources/runs/contract.ts', 'src/resources/runs/service.ts'],
  ['contracts-are-data', 'src/resources/agents/contract.ts', 'src/platform/db/client.ts'],
  ['routes-bind-only', 'src/resources/runs/routes.ts', 'src/resources/runs/store/index.ts'],
  ['routes-bind-only', 'src/resources/agents/routes.ts', 'src/resources/agents/store.ts'],
  ['routes-bind-only', 'src/resources/tools/routes.ts', 'src/resources/tools/table.ts'],
  ['routes-bind-only', 'src/resources/skills/routes.ts', 'src/platform/db/client.ts'],
  ['resources-through-services', 'src/resources/agents/service.ts', 'src/resources/runs/context.ts'],
  ['project-store-has-queries', 'src/resources/projects/store/lost.ts', 'src/resources/projects/engine/settle.ts'],
  ['platform-knows-no-resource', 'src/platform/core/ids.ts', 'src/resources/runs/model.ts'],
  ['platform-knows-no-resource', 'src/platform/http/app.ts', 'workflows/run/messages.ts'],
  ['client-stands-alone', 'client/src/transport.ts', 'src/platform/core/problem.ts'],
  ['client-stands-alone', 'client/src/webhooks.ts', 'node:crypto'],
  ['client-for-callers', 'src/api.ts', 'client/src/index.ts'],
  ['client-by-its-entries', 'src/cli/runs.ts', 'client/src/runs.ts'],
  ['product-needs-no-test', 'src/compose/services.ts', 'test/support/service/service.ts'],
  ['schema-checks-off-the-loop', 'src/resources/tools/arguments.ts', 'src/platform/core/json-schema.ts'],
  ['no-circular', 'src/cli/a.ts', 'src/cli/b.ts'],
  ['no-circular-types', 'src/cli/c.ts', 'src/cli/d.ts'],
  ['no-unresolvable', 'src/cli.ts', 'src/nowhere.ts'],
];

/** The imports that the architecture is made of. */
const ALLOWED: [from: string, imported: string][] = [
  ['workflows/phase/workflow.ts', '@temporalio/workflow'],
  ['workflows/phase/workflow.ts', 'src/resources/agents/model.ts'],
  ['workflows/phase/workflow.ts', 'src/platform/core/problem.ts'],
  ['src/resources/projects/service.ts', 'workflows/run/messages.ts'],
  ['src/resources/projects/service.ts', 'src/resources/projects/store.ts'],
  ['src/resources/projects/service.ts', 'src/resources/projects/board.ts'],
  ['src/resources/projects/service.ts', 'src/resources/tools/service.ts'],
  ['src/resources/projects/engine/settle.ts', 'src/resources/projects/store/record.ts'],
  ['src/resources/projects/store.ts', 'src/resources/projects/table.ts'],
  ['src/resources/projects/store.ts', 'src/platform/db/client.ts'],
  ['src/resources/projects/table.ts', 'src/resources/tools/table.ts'],
  ['src/resources/projects/model.ts', 'src/platform/core/problem.ts'],
  ['src/resources/projects/contract.ts', 'src/resources/projects/model.ts'],
  ['src/resources/projects/contract.ts', 'zod'],
  ['src/resources/projects/routes.ts', 'src/resources/projects/contract.ts'],
  ['src/resources/projects/routes.ts', 'src/resources/projects/service.ts'],
  ['activities/index.ts', 'src/resources/projects/store.ts'],
  ['src/platform/core/schema-checks.ts', 'src/platform/core/json-schema.ts'],
  ['src/worker.ts', 'activities/index.ts'],
  ['src/compose/activities.ts', 'activities/index.ts'],
  ['src/cli/jobs.ts', 'client/src/index.ts'],
  ['src/cli/jobs.ts', 'client/src/api.ts'],
  ['client/src/index.ts', 'client/src/transport.ts'],
  ['test/support/service/service.ts', 'src/worker.ts'],
];

interface Violation {
  rule: { name: string };
  from: string;
  to: string;
}

let tree: string;
let violations: Violation[];
let circles: Violation[];

beforeAll(async () => {
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  // Inside the project, so that packages resolve as they do for the real tree.
  tree = await mkdtemp(join(ROOT, '.cache', 'imports-'));
  await plant([...FORBIDDEN.map(([, from, imported]): [string, string] => [from, imported]), ...ALLOWED]);
  violations = await cruise('.dependency-cruiser.cjs', ['src', 'workflows', 'activities', 'client/src', 'test']);
  circles = await cruise('.dependency-cruiser.resources.mjs', ['src/resources']);
});
afterAll(() => rm(tree, { recursive: true, force: true }));

const isFile = (imported: string) => imported.endsWith('.ts');
const upTo = (path: string) => '../'.repeat(path.split('/').length - 1) || './';

async function plant(imports: [from: string, imported: string][]): Promise<void> {
  const files = new Map<string, string>();
  const add = (path: string, line: string) => files.set(path, `${files.get(path) ?? ''}${line}\n`);
  for (const [from, imported] of imports) {
    add(from, `import '${isFile(imported) ? upTo(from) + imported : imported}';`);
    if (isFile(imported) && imported !== 'src/nowhere.ts') add(imported, 'export {};');
  }
  // Types may come from anywhere: they are gone when the code runs.
  add('workflows/phase/types.ts', "import type { Store } from '../../src/resources/projects/store.ts';");
  add('src/resources/projects/store.ts', 'export type Store = object;');
  add('src/cli/b.ts', "import './a.ts';");
  add('src/cli/d.ts', "import type {} from './c.ts';");
  add('src/resources/heartbeats/store.ts', "import type {} from '../chat/table.ts';");
  add('src/resources/chat/table.ts', 'export {};');
  add('src/resources/chat/store.ts', "import '../heartbeats/table.ts';");
  add('src/resources/heartbeats/table.ts', 'export {};');
  add('tsconfig.json', '{}');
  for (const [path, text] of files) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), text);
  }
}

async function cruise(config: string, folders: readonly string[]): Promise<Violation[]> {
  const args = [CRUISER, ...folders, '--config', join(ROOT, config)];
  const run = promisify(execFile)(process.execPath, [...args, '--output-type', 'json'], {
    cwd: tree,
    maxBuffer: 2 ** 26,
  });
  // It exits with the number of violations.
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
}

// Guards: each rule, in every form in which it could be broken by accident.
test.each(FORBIDDEN)('%s: %s must not import %s', (rule, from, imported) => {
  const found = violations.filter((violation) => violation.rule.name === rule && violation.from === from);
  expect(found.map(({ to }) => to)).toEqual([expect.stringContaining(imported.replace('node:', ''))]);
});

// Guards: two resources may not know each other, even where no file is in a circle and one of them imports types alone.
test('no-circles-of-resources', () => {
  expect(circles.map(({ from }) => from).toSorted()).toEqual(['src/resources/chat', 'src/resources/heartbeats']);
});

// Guards: the rules allow what the architecture needs; a rule that refused everything would pass the tests above.
test('what is allowed is not refused', () => {
  const broken = new Set([
    ...['a', 'b', 'd'].flatMap((file) => [`no-circular: src/cli/${file}.ts`, `no-circular-types: src/cli/${file}.ts`]),
    ...FORBIDDEN.map(([rule, from]) => `${rule}: ${from}`),
  ]);
  const others = violations.filter(({ rule, from }) => !broken.has(`${rule.name}: ${from}`));
  expect(others.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
});
