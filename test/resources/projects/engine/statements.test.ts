/** What a phase going on asks of the database: each trip is one that everything else of the project waits for. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql, type SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { first } from '../../../../src/platform/core/present.ts';
import type { Database } from '../../../../src/platform/db/client.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import { createProjectEngine, type ProjectEngine } from '../../../../src/resources/projects/engine/index.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { attemptsOf, gate, insertProject } from '../../../support/fixtures/projects-store.ts';
import { withoutWaits } from '../../../support/database/without-waits.ts';
import { inboxFaults } from '../../../support/database/inbox-oracle.ts';
import { makeWorkspace } from '../../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let engine: ProjectEngine;
let listening: Database;
let asked: string[] = [];
beforeAll(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const dialect = new PgDialect();
  // Everything else as it is, getters too.
  listening = Object.create(db, {
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
test('a phase that opens and begins two steps holds its project once, in five statements', async () => {
  const steps = [{ slug: 'write' }, { slug: 'draw', dependsOn: [] }];
  const made = await insertProject(database.db, { customerId: 'acme', phases: [{ slug: 'a', steps }] });
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  asked = [];
  const { begun } = await engine.openAndBegin(ref, { granted: null, key: 'run:1' }, effectOf);
  expect(begun).toHaveLength(2);
  expect(locks()).toHaveLength(1);
  expect(asked).toHaveLength(5);
});

// Guards: the last step of a phase and the phase end in one statement, and a repeat of that tells the same.
test('a last step ends with its phase in three statements', async () => {
  const made = await insertProject(database.db, {
    customerId: 'acme',
    phases: [{ slug: 'a', artifactStepSlug: 'write', steps: [{ slug: 'write' }] }],
  });
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  await engine.openAndBegin(ref, { granted: null, key: 'run:1' }, effectOf);
  const { id: attemptId, childRunId } = first(await attemptsOf(database.db, made, 'a/write'));
  await database.db.rows(sql`
    update runs set status = 'succeeded', output = 'A text.', started_at = now(), completed_at = now()
    where id = ${childRunId}`);
  const settle = () => engine.settleAndGoOn(ref, { attemptId, next: [], isLast: true }, effectOf);
  asked = [];
  const settled = await settle();
  expect(settled).toMatchObject({ outcome: { kind: 'succeeded' }, ending: { kind: 'ended', status: 'succeeded' } });
  expect(asked).toHaveLength(3);
  const artifacts = () =>
    database.db.rows(
      sql`select version, content, produced_by_attempt_id as by from artifacts where project_id = ${made.id}`,
    );
  expect(await artifacts()).toEqual([{ version: 1, content: 'A text.', by: attemptId }]);
  expect(await settle()).toEqual(settled);
  expect(await artifacts()).toHaveLength(1);
});

const by = () => ({ actor: { kind: 'human' as const, id: 'ann@acme.example' }, commandId: crypto.randomUUID() });

/** How many statements it takes to open a gate, to answer it, and to pause and to resume the project. */
async function counts(): Promise<Record<string, number>> {
  const phases = [{ slug: 'a', steps: [gate('approve', { status: 'pending' })] }];
  const made = await insertProject(database.db, { customerId: 'acme', phases });
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  const asks = async (work: () => Promise<unknown>) => {
    asked = [];
    await work();
    return asked.length;
  };
  const opened = await asks(() => engine.openAndBegin(ref, { granted: null, key: 'run:1' }, effectOf));
  const decide = { projectId: made.id, gateKind: 'human' as const };
  const answer = { subtask_id: made.stepId('a/approve'), decision: 'rejected' as const };
  const rejected = await asks(() => commands.resolveGate(listening, { ...decide, ...by(), answer }));
  const resumed = await asks(() =>
    commands.resumeProject(listening, { projectId: made.id, ...by(), effectOf, inFlightTaskIds: [] }),
  );
  return { opened, rejected, resumed };
}

// Guards: a wait is opened, and settled with its answer, inside of the statements that there are without the inbox: it costs a
// project no round trip, whether anybody is told of it or not.
test('a gate that waits and is answered takes no statement more than without the inbox', async () => {
  const expected = { opened: 4, rejected: 8, resumed: 10 };
  expect(await withoutWaits(database.db, counts)).toEqual(expected);
  const { db } = database;
  await db.rows(sql`delete from waits`);
  await db.rows(sql`
    insert into output_destinations (id, customer_id, name, kind, config, waits)
    values (gen_random_uuid(), 'acme', 'hook', 'webhook', '{"url": "https://example.com"}', true)`);
  expect(await counts()).toEqual(expected);
  expect(await db.rows(sql`select kind, answer from waits order by kind`)).toEqual([
    { kind: 'gate', answer: 'reject' },
    { kind: 'paused', answer: 'resume' },
  ]);
  expect(await db.rows(sql`select notice from output_deliveries`)).toHaveLength(4);
  expect(await inboxFaults(db)).toEqual([]);
});
