/** What the kind of a gate decides, against what the database and the engine make of it. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { GATE_KIND_RULES } from '../../../../src/resources/templates/gates/kinds/model.ts';
import { GATE_KINDS } from '../../../../src/resources/templates/model.ts';
import { gate } from '../../../support/fixtures/projects-store.ts';
import { db, project, useAcme } from '../store/acme.ts';

useAcme();

// Guards: the trigger that opens waits knows every kind of gate, and the inbox shows those that somebody can answer.
test.each(GATE_KINDS)('a gate of kind %s opens the wait that its rules name', async (gateKind) => {
  const made = await project([
    { slug: 'a', status: 'running', steps: [gate('approve', { gateKind, status: 'pending' })] },
  ]);
  await db.rows(sql`update subtasks set status = 'blocked' where id = ${made.stepId('a/approve')}::uuid`);
  const waits = await db.rows<{ kind: string }>(sql`select kind from waits where project_id = ${made.id}`);
  const { wait } = GATE_KIND_RULES[gateKind];
  expect(waits).toEqual(wait === null ? [] : [{ kind: wait }]);
});

// Guards: whom a gate asks is in an inbox, and what nobody answers is in none.
test('there is a wait for people and systems alone', () => {
  const withWait = GATE_KINDS.filter((kind) => GATE_KIND_RULES[kind].wait !== null);
  const asking = GATE_KINDS.filter((kind) => ['people', 'systems'].includes(GATE_KIND_RULES[kind].answeredBy));
  expect(withWait).toEqual(asking);
});
