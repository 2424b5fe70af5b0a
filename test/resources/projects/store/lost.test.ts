/** Which projects Temporal is asked about right after a start. */
import { expect, test } from '@jest/globals';
import { createProjectStore } from '../../../../src/resources/projects/store/index.ts';
import { db, project, useAcme } from './acme.ts';

useAcme();

const HOUR_MS = 3_600_000;
const before = (hours: number) => new Date(Date.now() - hours * HOUR_MS);

// Guards against: a project that was abandoned long before the start, and whose workflows would run for ever.
test('asks at once about all that is under way, and about what was abandoned since it was asked about', async () => {
  const under = await project([{ slug: 'a' }], { checkedAt: new Date() });
  const untold = await project([{ slug: 'a' }], {
    status: 'abandoned',
    abandonedAt: before(20),
    checkedAt: before(30),
  });
  await project([{ slug: 'a' }], { status: 'abandoned', abandonedAt: before(30), checkedAt: before(20) });
  await project([{ slug: 'a' }], { status: 'completed', checkedAt: before(30) });
  const store = createProjectStore(db);
  await store.askAboutAll(HOUR_MS);
  const { ids } = await store.takeUnchecked({ after: '', workspaces: 10, each: 10 }, HOUR_MS);
  expect(ids.sort()).toEqual([under.id, untold.id].sort());
});
