/** What a step is given that begins in the statement which ends the step before it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first } from '../../../../src/platform/core/present.ts';
import { createProjectEngine, type ProjectEngine } from '../../../../src/resources/projects/engine/index.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { attemptsOf, insertProject } from '../../../support/fixtures/projects-store.ts';
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
const OBJECT = { type: 'object' };

/** @returns the prompts of the steps that follow the first one, where they begin with its end, or apart from it */
async function promptsAfter({ together }: { together: boolean }): Promise<string[]> {
  const { db } = database;
  const steps = [
    { slug: 'write', outputSchema: OBJECT },
    { slug: 'draw', dependsOn: ['write'] },
    { slug: 'check', dependsOn: ['write'], role: 'reviewer' as const },
  ];
  const made = await insertProject(db, { customerId: 'acme', phases: [{ slug: 'a', steps }] });
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  await engine.openAndBegin(ref, { granted: null, key: 'run:1' }, effectOf);
  const { id: attemptId, childRunId } = first(await attemptsOf(db, made, 'a/write'));
  await db.rows(sql`
    update runs set status = 'succeeded', output = '{"zebra": 1, "a": "A text."}', started_at = now(), completed_at = now()
    where id = ${childRunId}`);
  const next = ['a/draw', 'a/check'].map((path, n) => ({ subtaskId: made.stepId(path), key: `run:${n + 2}` }));
  const ending = { attemptId, isLast: false, next: together ? next : [] };
  const { begun } = await engine.settleAndGoOn(ref, ending, effectOf);
  if (together) expect(begun.map(({ subtaskId }) => subtaskId)).toEqual(next.map(({ subtaskId }) => subtaskId));
  else for (const each of next) await engine.beginAttempt({ ...ref, ...each, granted: false }, effectOf);
  const runs = await db.rows<{ prompt: string }>(sql`
    select r.prompt from runs r join attempts a on a.id = r.attempt_id join subtasks s on s.id = a.subtask_id
    where a.project_id = ${made.id} and s.step_slug <> 'write' order by s.position`);
  return runs.map(({ prompt }) => prompt.replaceAll(made.id, 'the project'));
}

// Guards: a step is given the output of the one whose end it begins with, word for word what it would read afterwards.
test('is what it would be given apart from it', async () => {
  const prompts = await promptsAfter({ together: true });
  expect(prompts).toHaveLength(2);
  for (const prompt of prompts) expect(prompt).toContain('A text.');
  expect(prompts).toEqual(await promptsAfter({ together: false }));
});
