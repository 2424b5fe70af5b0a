/** Four eyes at a gate behind an artifact that an edit session set, or that somebody reverted. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { sweepEvents } from '../../../support/database/sweep.ts';
import { gate } from '../../../support/fixtures/projects-store.ts';
import { ann, db, project, useAcme } from '../store/acme.ts';
import { createDriver } from '../store/driver.ts';
import { enactableSession } from '../store/edit-sessions.ts';

useAcme();

const ben = { kind: 'human', id: 'ben@acme.example' } as const;

// Guards against: four eyes that are passed by one's own text, which an edit session had set.
test.each([
  ['the planner proposed', 'approved'],
  ['they sent', 'edit_plan'],
] as const)('four eyes keep out who set the artifact by a plan that %s', async (_, decision) => {
  const driver = createDriver(db);
  const made = await project([
    { slug: 'a', status: 'succeeded', versions: 1 },
    { slug: 'b', dependsOn: ['a'], steps: [gate('approve', { status: 'pending', gateConfig: { four_eyes: true } })] },
  ]);
  const action = { kind: 'edit_artifact' as const, phase_slug: 'a', content: 'My own words', rationale: '' };
  const plan = { actions: [action], cascade: 'lazy' as const, by: ann, decision };
  await driver.engine.enactPlan(await enactableSession(driver, made, plan));
  await driver.open(made, 'b');
  await expect(driver.approve(made, 'b/approve')).rejects.toMatchObject({ code: 'four_eyes' });
  await driver.approve(made, 'b/approve', ben);
});

// Guards against: four eyes that forget who made an artifact as it is, once retention has deleted the events of the project.
test.each(['edited', 'reverted'])('four eyes remember who %s an artifact when the events are gone', async (how) => {
  const driver = createDriver(db);
  const made = await project([
    { slug: 'a', status: 'succeeded', versions: 2 },
    { slug: 'b', dependsOn: ['a'], steps: [gate('approve', { status: 'pending', gateConfig: { four_eyes: true } })] },
  ]);
  if (how === 'edited') {
    const action = { kind: 'edit_artifact' as const, phase_slug: 'a', content: 'My own words', rationale: '' };
    const plan = { actions: [action], cascade: 'lazy' as const, by: ann, decision: 'approved' as const };
    await driver.engine.enactPlan(await enactableSession(driver, made, plan));
  } else {
    await driver.engine.revertArtifact({
      projectId: made.id,
      phaseSlug: 'a',
      targetVersion: 1,
      cascade: 'lazy',
      reason: null,
      actor: ann,
      commandId: 'back',
    });
  }
  await driver.open(made, 'b');
  await db.rows(sql`
    update projects set status = 'paused', pause_reason = 'requested', paused_at = now() where id = ${made.id}`);
  await sweepEvents(db);
  expect(await db.rows(sql`select id from project_events where project_id = ${made.id}`)).toEqual([]);
  await expect(driver.approve(made, 'b/approve')).rejects.toMatchObject({ code: 'four_eyes' });
  await driver.approve(made, 'b/approve', ben);
});
