/** Where the words of judges go, and whose work is done again. The judges are actions, whose verdict is their output. */
import { expect, test } from '@jest/globals';
import { createProjectEngine } from '../../../../src/resources/projects/engine/index.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import {
  attemptsOf,
  gate,
  insertAttempt,
  projectOf,
  statusesOf,
  stepOf,
  type InsertedProject,
  type StepFixture,
} from '../../../support/fixtures/projects-store.ts';
import { answer, by, db, project, useAcme } from '../store/acme.ts';
import { present } from '../../../../src/platform/core/present.ts';

useAcme();

const effectOf = () => 'idempotent' as const;
const writer = (slug: string, more: Partial<StepFixture> = {}): StepFixture => ({
  slug,
  status: 'succeeded',
  attemptsUsed: 1,
  ...more,
});
const renderer = (slug: string, dependsOn: string[], role: StepFixture['role'] = 'assembler') =>
  writer(slug, { kind: 'action', role, assignee: 'assemble_markdown', dependsOn });
const judge = (slug: string, dependsOn: string[]): StepFixture => ({
  slug,
  kind: 'action',
  role: 'reviewer',
  assignee: 'check_html',
  status: 'running',
  attemptsUsed: 1,
  dependsOn,
});
/** A phase whose judges are all at work. */
async function judged(...steps: StepFixture[]) {
  const made = await project([{ slug: 'a', status: 'running', steps }]);
  const attempts = new Map<string, string>();
  for (const { slug } of steps.filter(({ status }) => status === 'running')) {
    attempts.set(slug, await insertAttempt(db, made, `a/${slug}`));
  }
  const engine = createProjectEngine(db);
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  return {
    made,
    async rejects(slug: string, feedback: string) {
      const attemptId = present(attempts.get(slug));
      await engine.saveActionOutput(attemptId, { decision: 'rejected', feedback });
      await engine.settleAndGoOn(ref, { attemptId, next: [], isLast: false }, effectOf);
    },
  };
}
const feedbackOf = async (made: InsertedProject, ...slugs: string[]) =>
  Object.fromEntries(
    await Promise.all(slugs.map(async (slug) => [slug, (await stepOf(db, made, `a/${slug}`)).feedback])),
  ) as Record<string, string[]>;

// Guards against: words about one text that were put to the writer of another. Whichever judge is first, each is heard
// by the producer before it alone.
test.each([
  ['plan', 'facts'],
  ['facts', 'plan'],
])('%s rejects, then %s', async (...order) => {
  const { made, rejects } = await judged(
    writer('outline'),
    writer('write', { dependsOn: ['outline'] }),
    judge('plan', ['outline']),
    judge('facts', ['write']),
    judge('style', ['facts']),
  );
  for (const slug of order) await rejects(slug, `${slug} says no`);
  expect(await feedbackOf(made, 'outline', 'write')).toEqual({
    outline: ['plan says no'],
    write: ['facts says no'],
  });
});

// Guards against: a second rejection that was lost because the first one used up the attempts. A retry by hand is told
// both.
test('the last attempt is rejected twice', async () => {
  const { made, rejects } = await judged(
    writer('write', { attemptsUsed: 3 }),
    judge('facts', ['write']),
    judge('style', ['write']),
  );
  await rejects('facts', 'Wrong date');
  expect((await stepOf(db, made, 'a/write')).status).toBe('failed');
  await rejects('style', 'Too dry');
  const subtaskId = made.stepId('a/write');
  await commands.retrySubtask(db, { projectId: made.id, subtaskId, addendum: null, ...by() });
  expect(await stepOf(db, made, 'a/write')).toMatchObject({
    status: 'pending',
    nextReason: 'manual_rework',
    feedback: ['Wrong date', 'Too dry'],
  });
});

// Guards against: an assembler that made the same again of the same text, until no attempt was left. The rejection goes
// to the agent before it, and the assembler runs again after that.
test.each([
  ['an assembler', [renderer('render', ['write'])]],
  ['two of them', [renderer('pages', ['write'], 'producer'), renderer('render', ['pages'])]],
  [
    'an assembler of several',
    [writer('note', { role: 'utility', dependsOn: [] }), renderer('render', ['write', 'note'])],
  ],
])('a judge rejects what %s made', async (_, between) => {
  const { made, rejects } = await judged(writer('write'), ...between, judge('check', ['render']));
  await rejects('check', 'No title');
  expect(await statusesOf(db, made.id)).toMatchObject({
    'a/write': 'pending',
    'a/render': 'pending',
    'a/check': 'pending',
  });
  expect(await feedbackOf(made, 'write', 'render')).toEqual({ write: ['No title'], render: [] });
  expect((await projectOf(db, made.id)).status).toBe('active');
});

// Guards: the same of a gate.
test('a person rejects what an assembler made', async () => {
  const made = await project([
    {
      slug: 'a',
      status: 'blocked',
      steps: [
        writer('write'),
        renderer('render', ['write']),
        gate('approve', { dependsOn: ['render'], gateConfig: { on_reject: 'rework' } }),
      ],
    },
  ]);
  await commands.resolveGate(db, answer(made, 'rejected', { comment: 'No title' }));
  expect(await statusesOf(db, made.id)).toMatchObject({ 'a/write': 'pending', 'a/render': 'pending' });
  expect(await feedbackOf(made, 'write', 'render')).toEqual({ write: ['No title'], render: [] });
});

// Guards: where no agent made anything, nothing can become better, and a person is asked at once.
test('a judge rejects what actions alone made', async () => {
  const { made, rejects } = await judged(renderer('render', []), judge('check', ['render']));
  await rejects('check', 'No title');
  expect(await stepOf(db, made, 'a/check')).toMatchObject({
    status: 'failed',
    error: 'rejected, and no step before it can do better: No title',
  });
  expect(await projectOf(db, made.id)).toMatchObject({ status: 'paused', pause_reason: 'subtask_failed' });
});

// Guards against: an action that carries out what a judge has turned down meanwhile.
test.each(['http_post', 'assemble_markdown'])('%s is not carried out once its step was sent back', async (assignee) => {
  const act: StepFixture = {
    slug: 'act',
    kind: 'action',
    assignee,
    status: 'running',
    attemptsUsed: 1,
    dependsOn: ['w'],
  };
  const { made, rejects } = await judged(writer('w'), judge('j', ['w']), act);
  const engine = createProjectEngine(db);
  const [attempt] = await attemptsOf(db, made, 'a/act');
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1, subtaskId: made.stepId('a/act') };
  const isOpen = async () => (await engine.loadActionContext({ ...ref, attemptId: present(attempt).id }))?.isOpen;
  expect(await isOpen()).toBe(true);
  await rejects('j', 'More of it.');
  expect(await isOpen()).toBe(false);
});
