/**
 * An answer to a gate counts for the versions that it was given to. A step begins only behind gates that were answered for
 * what there is now; others are asked again.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import type { Cascade } from '../../../../src/resources/projects/model.ts';
import {
  attemptsOf,
  eventsOf,
  gate,
  statusesOf,
  stepOf,
  type InsertedProject,
  type PhaseFixture,
} from '../../../support/fixtures/projects-store.ts';
import { ann, db, project, useAcme } from '../store/acme.ts';
import { createDriver } from '../store/driver.ts';
import { enactableSession } from '../store/edit-sessions.ts';
import { present } from '../../../../src/platform/core/present.ts';

useAcme();
let driver: ReturnType<typeof createDriver>;
beforeEach(() => {
  driver = createDriver(db);
});

const human = gate('approve', { status: 'pending' });
const schedule = gate('wait', { status: 'pending', gateKind: 'schedule', gateConfig: { delay_s: 60 } });
const post = { slug: 'post' };
const judge = { slug: 'judge', role: 'reviewer' as const };

/** What makes version 2 of the draft, which is approved in version 1. */
const CHANGES: Record<string, (made: InsertedProject, cascade: Cascade) => Promise<void>> = {
  'a retrigger': async (made, cascade) => {
    await driver.retrigger(made, 'draft', cascade);
    await driver.run(made, 'draft');
  },
  'a revert': async (made, cascade) => {
    await driver.revert(made, 'draft', 1, cascade);
  },
  'an edit session': async (made, cascade) => {
    const action = { kind: 'edit_artifact' as const, phase_slug: 'draft', content: 'By hand', rationale: '' };
    await driver.engine.enactPlan(await enactableSession(driver, made, { actions: [action], cascade, by: ann }));
  },
};

/** The draft in its second version, and then `publish` with these steps. */
async function drafted(steps: PhaseFixture['steps'], more: PhaseFixture[] = []): Promise<InsertedProject> {
  const publish = { slug: 'publish', dependsOn: ['draft'], artifactStepSlug: null, steps };
  const made = await project([{ slug: 'draft' }, publish, ...more]);
  await driver.run(made, 'draft');
  await driver.retrigger(made, 'draft', 'none');
  await driver.run(made, 'draft');
  return made;
}
const stepsOf = async (made: InsertedProject, ...paths: string[]) => {
  const statuses = await statusesOf(db, made.id);
  return paths.map((path) => statuses[path]);
};
const consumedBy = async (made: InsertedProject, path: string) => (await attemptsOf(db, made, path)).at(-1)?.consumed;

describe.each(Object.keys(CHANGES))('after an approval comes %s', (how) => {
  const change = (made: InsertedProject, cascade: Cascade) => present(CHANGES[how])(made, cascade);

  // Guards against: an approval of one version that publishes another one.
  test.each(['lazy', 'strict', 'none'] as const)('the gate is asked again before the post (%s)', async (cascade) => {
    const made = await drafted([human, schedule, post]);
    await driver.open(made, 'publish');
    await driver.approve(made, 'publish/approve');
    expect((await stepOf(db, made, 'publish/approve')).consumed).toEqual({
      phases: { draft: { version: 2, isStale: false } },
      steps: {},
    });
    await driver.begin(made, 'publish/wait');
    await change(made, cascade);
    await driver.approve(made, 'publish/wait');
    const beginning = await driver.begin(made, 'publish/post');
    const paths = ['approve', 'wait', 'post'].map((slug) => `publish/${slug}`);
    expect(beginning).toEqual({ kind: 'not_yet' });
    expect(await stepsOf(made, ...paths)).toEqual(['pending', 'pending', 'pending']);
    expect((await eventsOf(db, made.id)).at(-1)).toMatchObject({
      topic: 'subtask_retry_queued',
      actor_id: ann.id,
      payload: { step_slug: 'approve' },
    });
    await driver.begin(made, 'publish/approve');
    await driver.approve(made, 'publish/approve');
    await driver.begin(made, 'publish/wait');
    await driver.approve(made, 'publish/wait');
    expect(await driver.begin(made, 'publish/post')).toMatchObject({ kind: 'agent' });
    expect(await consumedBy(made, 'publish/post')).not.toEqual({ draft: { version: 2, isStale: false } });
    // What it has consumed at last is what there is, so nothing is promised any more.
    await driver.end(made, 'publish/post');
    expect(await stepsOf(made, 'publish')).toEqual(['succeeded']);
  });

  // Guards against: an action that begins behind an approval of one version, and works with the one that came after.
  test.each(['lazy', 'strict', 'none'] as const)('an action works with what it began with (%s)', async (cascade) => {
    const made = await drafted([human, { slug: 'post', kind: 'action', assignee: 'http_post' }]);
    await driver.open(made, 'publish');
    await driver.approve(made, 'publish/approve');
    await driver.begin(made, 'publish/post');
    const [attempt] = await attemptsOf(db, made, 'publish/post');
    const ref = { ...(await driver.refOf(made, 'publish')), subtaskId: made.stepId('publish/post') };
    const load = () => driver.engine.loadActionContext({ ...ref, attemptId: present(attempt).id });
    const given = await load();
    expect(given?.step.artifacts).toMatchObject([{ phaseSlug: 'draft', version: 2 }]);
    await change(made, cascade);
    expect((await load())?.step.artifacts).toEqual(given?.step.artifacts);
  });

  // Guards: what was promised of a phase of gates alone that is under way holds, too.
  test.each([
    ['lazy', 'stale'],
    ['strict', 'pending'],
    ['none', 'succeeded'],
  ] as const)('a phase of gates alone that is under way becomes what was told (%s)', async (cascade, expected) => {
    const made = await drafted([human, schedule]);
    await driver.open(made, 'publish');
    await driver.approve(made, 'publish/approve');
    await driver.begin(made, 'publish/wait');
    await change(made, cascade);
    await driver.approve(made, 'publish/wait');
    await driver.close(made, 'publish');
    expect(await stepsOf(made, 'publish')).toEqual([expected]);
  });

  // Guards against: a phase of gates alone that was answered for an earlier version, and lets a later phase publish another.
  test.each(['lazy', 'strict', 'none'] as const)('a phase of gates alone is asked again (%s)', async (cascade) => {
    const second = {
      slug: 'confirm',
      dependsOn: ['publish'],
      artifactStepSlug: null,
      steps: [gate('confirm', { status: 'pending' })],
    };
    const made = await drafted([human], [second, { slug: 'news', dependsOn: ['draft', 'confirm'] }]);
    const approvals = [
      ['publish', 'approve'],
      ['confirm', 'confirm'],
    ] as const;
    const answerAll = async () => {
      for (const [slug, step] of approvals) {
        await driver.open(made, slug);
        await driver.approve(made, `${slug}/${step}`);
        await driver.close(made, slug);
      }
    };
    await answerAll();
    await change(made, cascade);
    // Under `strict` both are to run again already.
    expect(await driver.tryToOpen(made, 'news')).toMatchObject({ kind: 'not_yet' });
    expect(await stepsOf(made, 'publish', 'confirm', 'news')).toEqual(['pending', 'pending', 'pending']);
    await answerAll();
    await driver.open(made, 'news');
    expect(await consumedBy(made, 'news/write')).not.toEqual({ draft: { version: 2, isStale: false } });
  });

  // Guards: the same for a phase that is open already; work of it that is under way ends first.
  test.each([false, true])('a phase under way waits for phases of gates alone (work beside: %s)', async (isBusy) => {
    const news = {
      slug: 'news',
      dependsOn: ['publish'],
      steps: [{ slug: 'write' }, { slug: 'post' }, { slug: 'beside', dependsOn: [] }],
    };
    const made = await drafted([human], [news]);
    await driver.open(made, 'publish');
    await driver.approve(made, 'publish/approve');
    await driver.close(made, 'publish');
    await driver.open(made, 'news');
    await driver.settle(made, 'news/write');
    if (!isBusy) await driver.settle(made, 'news/beside');
    await change(made, 'none');
    if (isBusy) {
      expect(await driver.begin(made, 'news/post')).toEqual({ kind: 'not_yet' });
      expect(await stepsOf(made, 'publish', 'news')).toEqual(['pending', 'running']);
      await driver.settle(made, 'news/beside');
    }
    expect(await driver.begin(made, 'news/post')).toEqual({ kind: 'put_back' });
    expect(await stepsOf(made, 'publish', 'news')).toEqual(['pending', 'pending']);
    expect(await driver.tryToOpen(made, 'news')).toMatchObject({ kind: 'not_yet' });
    await driver.open(made, 'publish');
    await driver.approve(made, 'publish/approve');
    await driver.close(made, 'publish');
    await driver.open(made, 'news');
    expect(await stepsOf(made, 'news/write', 'news/post')).toEqual(['succeeded', 'running']);
  });
});

// Guards: a gate is asked again about work of its own phase that was done again, whatever had left it answered.
test('a gate that judged an earlier attempt of a step before it', async () => {
  const made = await project([{ slug: 'draft', steps: [{ slug: 'write' }, judge, human, post] }]);
  await driver.open(made, 'draft');
  await driver.settle(made, 'draft/write');
  await driver.begin(made, 'draft/judge');
  await driver.settle(made, 'draft/judge');
  await driver.begin(made, 'draft/approve');
  await driver.approve(made, 'draft/approve');
  expect((await stepOf(db, made, 'draft/approve')).consumed).toEqual({ phases: {}, steps: { write: 1, judge: 1 } });
  const redone = sql`array[${made.stepId('draft/write')}, ${made.stepId('draft/judge')}]::uuid[]`;
  await db.rows(sql`update subtasks set status = 'pending' where id = any(${redone})`);
  expect(await driver.begin(made, 'draft/post')).toMatchObject({ kind: 'not_yet' });
  expect(await stepsOf(made, 'draft/approve')).toEqual(['pending']);
  for (const slug of ['write', 'judge']) {
    await driver.begin(made, `draft/${slug}`);
    await driver.settle(made, `draft/${slug}`);
  }
  await driver.begin(made, 'draft/approve');
  expect(await driver.begin(made, 'draft/post')).toMatchObject({ kind: 'not_yet' });
  await driver.approve(made, 'draft/approve');
  expect(await driver.begin(made, 'draft/post')).toMatchObject({ kind: 'agent' });
});

// Guards: a version that was approved and is current again needs no other approval; and a gate that waits for a time
// judges nothing.
test('what was approved stays approved', async () => {
  const made = await drafted([human, schedule, post]);
  await driver.open(made, 'publish');
  await driver.approve(made, 'publish/approve');
  await driver.begin(made, 'publish/wait');
  await driver.revert(made, 'draft', 1, 'lazy');
  await driver.approve(made, 'publish/wait');
  await driver.revert(made, 'draft', 2, 'lazy');
  expect(await driver.begin(made, 'publish/post')).toMatchObject({ kind: 'agent' });
  await driver.end(made, 'publish/post');
  expect(await stepsOf(made, 'publish')).toEqual(['succeeded']);
});

// Guards: an answer is to what there is when it is given, not to what there was when the gate opened.
test('what changes while the gate waits is approved with it', async () => {
  const made = await drafted([human, post]);
  await driver.open(made, 'publish');
  await driver.revert(made, 'draft', 1, 'lazy');
  await driver.approve(made, 'publish/approve');
  expect(await driver.begin(made, 'publish/post')).toMatchObject({ kind: 'agent' });
});
