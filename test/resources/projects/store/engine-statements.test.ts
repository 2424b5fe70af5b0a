/** What a phase going on asks of the database: each trip is one that everything else of the project waits for. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Database } from '../../../../src/platform/db/client.ts';
import { createProjectEngine, type ProjectEngine } from '../../../../src/resources/projects/store/engine/index.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { insertProject } from '../../../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let engine: ProjectEngine;
let asked: string[] = [];
beforeAll(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const dialect = new PgDialect();
  // Everything else as it is, getters too.
  const listening = Object.create(db, {
    rows: {
      value: (statement: SQL) => {
        asked.push(dialect.sqlToQuery(statement).sql);
        return db.rows(statement);
      },
    },
  }) as Database;
  engine = createProjectEngine(listening);
  await makeWorkspace(db, 'acc_acme');
});
afterAll(() => database?.close());

const effectOf = () => 'idempotent' as const;
const locks = () => asked.filter((text) => text.includes('from projects') && text.includes('for update'));

// Guards: a step that begins with the end of another, or with the opening of its phase, takes no lock of its own, and
// an opening needs no extra statement for its event.
test('a phase that opens and begins two steps holds its project once, in eight statements', async () => {
  const steps = [{ slug: 'write' }, { slug: 'draw', dependsOn: [] }];
  const made = await insertProject(database.db, { customerId: 'acme', phases: [{ slug: 'a', steps }] });
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  asked = [];
  const { begun } = await engine.openAndBegin(ref, { granted: null, key: 'run:1' }, effectOf);
  expect(begun).toHaveLength(2);
  expect(locks()).toHaveLength(1);
  expect(asked).toHaveLength(8);
});
