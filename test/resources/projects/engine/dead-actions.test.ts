/** What becomes of an action that died: whether it is done again. */
import { expect, test } from '@jest/globals';
import { ACTIONS, effectOfAction } from '../../../../src/resources/actions/builtin/index.ts';
import { ENACT_ACTION } from '../../../../src/resources/projects/model.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import { insertAttempt } from '../../../support/fixtures/projects-store.ts';
import { db, project, useAcme } from '../store/acme.ts';

useAcme();

// Guards: whatever action dies is repeated by the effect that it declares; the record carries out a plan once for its
// approval, so that its action is repeated as well.
test.each([
  ...ACTIONS.map(({ name, effect }) => [name, effect === 'irreversible' ? 'failed' : 'pending']),
  [ENACT_ACTION, 'pending'],
  ['no_such_action', 'failed'],
])('an attempt at %s that died is %s', async (assignee, becomes) => {
  const made = await project([{ slug: 'a', status: 'running', steps: [{ slug: 'act', kind: 'action', assignee }] }]);
  await insertAttempt(db, made, 'a/act');
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  const { changes } = await commands.recoverPhase(db, { ...ref, effectOf: effectOfAction });
  expect(changes).toEqual([{ slug: 'a', status: becomes }]);
});
