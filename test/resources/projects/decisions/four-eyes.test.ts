/** Four eyes at a gate behind an artifact that an edit session set. */
import { expect, test } from '@jest/globals';
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
