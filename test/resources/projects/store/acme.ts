/** A database with the workspace acme, and the person who gives commands there, for the tests of this folder. */
import { afterAll, beforeAll } from '@jest/globals';
import type { Decision } from '../../../../src/resources/projects/model.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { insertProject, type InsertedProject, type PhaseFixture } from '../../../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../../../support/fixtures/workspaces.ts';

let database: TestDatabase;

export let db: TestDatabase['db'];

export const ann = { kind: 'human', id: 'ann@acme.example' } as const;

let given = 0;

/** Who gives a command, and a new id for it. */
export const by = () => ({ actor: ann, commandId: `command-${(given += 1)}` });

export const project = (phases: PhaseFixture[], more = {}) =>
  insertProject(db, { customerId: 'acme', phases, ...more });

/** An answer to the gate `a/approve`. */
export const answer = (made: InsertedProject, decision: Decision, more = {}) => ({
  projectId: made.id,
  gateKind: null,
  ...by(),
  answer: { subtask_id: made.stepId('a/approve'), decision, ...more },
});

/** Before the tests of a file: a database of its own with the workspace acme. */
export function useAcme(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    db = database.db;
    await makeWorkspace(db, 'acc_acme');
  });

  afterAll(() => database?.close());
}
