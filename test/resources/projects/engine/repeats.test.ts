/** An activity whose worker died after its commit is made again: it must find what it did. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createProjectEngine, type ProjectEngine } from '../../../../src/resources/projects/engine/index.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { attemptsOf, gate, insertProject, type PhaseFixture } from '../../../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let engine: ProjectEngine;
beforeAll(async () => {
  database = await openTestDatabase();
  engine = createProjectEngine(database.db);
  await makeWorkspace(database.db, 'acc_acme');
});
afterAll(() => database?.close());

const effectOf = () => 'idempotent' as const;
const project = (phases: PhaseFixture[]) => insertProject(database.db, { customerId: 'acme', phases });
const open = (made: Awaited<ReturnType<typeof project>>, key: string) =>
  engine.openAndBegin({ projectId: made.id, taskId: made.taskId('a'), iteration: 1 }, { granted: null, key }, effectOf);

// Guards: where the opening of a phase is repeated, the phase goes on with the steps that it began instead of waiting
// for them for ever.
test('the opening of a phase begins its steps once, and names them each time', async () => {
  const steps = [{ slug: 'write' }, { slug: 'draw', dependsOn: [] }, { slug: 'check', dependsOn: ['write'] }];
  const made = await project([{ slug: 'a', steps }]);
  const first = await open(made, 'run-1:1');
  expect(first.begun.map(({ subtaskId }) => subtaskId)).toEqual([made.stepId('a/write'), made.stepId('a/draw')]);
  const again = await open(made, 'run-1:1');
  expect(again.begun).toEqual(first.begun);
  expect(await attemptsOf(database.db, made, 'a/write')).toHaveLength(1);
});

// Guards: another execution of the workflow does not adopt a step that the one before it began.
test('the opening by another run names none of them', async () => {
  const made = await project([{ slug: 'a' }]);
  await open(made, 'run-1:1');
  expect(await open(made, 'run-2:1')).toMatchObject({ kind: 'opened', begun: [] });
});

// Guards: an open gate still belongs to the workflow, which waits for it.
test('an open gate is not opened by it again', async () => {
  const made = await project([{ slug: 'a', steps: [gate('approve', { status: 'pending' })] }]);
  const first = await open(made, 'run-1:1');
  expect(first.begun).toMatchObject([{ beginning: { kind: 'gate' } }]);
  expect(await open(made, 'run-1:1')).toMatchObject({ begun: [], steps: [{ status: 'blocked' }] });
});
