/** The actor of an event is who caused it. Every topic of the feed has its causes here: a new one does not compile without. */
import { beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first } from '../../../../src/platform/core/present.ts';
import { SYSTEM, type Actor } from '../../../../src/resources/projects/model.ts';
import { TOPICS, type Topic } from '../../../../src/resources/projects/feed/model.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import { delegateGate } from '../../../../src/resources/projects/decisions/delegate-gate.ts';
import { remindOfWait } from '../../../../src/resources/projects/store/waits.ts';
import {
  attemptsOf,
  eventsOf,
  gate,
  insertAttempt,
  type InsertedProject,
  type StepFixture,
} from '../../../support/fixtures/projects-store.ts';
import { ann, answer, by, db, project, useAcme } from './acme.ts';
import { createDriver } from './driver.ts';
import { enactableSession } from './edit-sessions.ts';

useAcme();
let driver: ReturnType<typeof createDriver>;
beforeEach(() => {
  driver = createDriver(db);
});

const agent: Actor = { kind: 'agent', id: 'writer' };
const external: Actor = { kind: 'external', id: 'ci' };
const owner = { kind: 'human', id: 'owner@acme.example' } as const;

/** Who is named, and what they do so that the event is noted. */
interface Cause {
  what: string;
  actor: Actor;
  provoke: () => Promise<InsertedProject>;
}
const cause = (what: string, actor: Actor, provoke: Cause['provoke']): Cause => ({ what, actor, provoke });

/** Opened, because that opens its wait too. */
const waiting = async (gateConfig: Record<string, unknown> = {}, more: Partial<StepFixture> = {}) => {
  const approve = gate('approve', { gateConfig, status: 'pending', ...more });
  const made = await project([
    { slug: 'a', status: 'running', steps: [{ slug: 'write', status: 'succeeded' }, approve] },
  ]);
  await driver.begin(made, 'a/approve');
  return made;
};
const answered = async (decision: 'approved' | 'rejected', config = {}, more = {}, how: object = {}) => {
  const made = await waiting(config, more);
  await commands.resolveGate(db, { ...answer(made, decision), ...how });
  return made;
};
/** Time passes at the gate. */
const passing = async (what: 'reminder' | 'escalation' | 'timeout', config = {}) => {
  const made = await waiting(config);
  const { commandId } = by();
  await commands.passGateMoment(db, {
    projectId: made.id,
    subtaskId: made.stepId('a/approve'),
    commandId,
    what,
    nth: 1,
  });
  return made;
};
const waitOf = async ({ id }: InsertedProject): Promise<string> =>
  first(await db.rows<{ id: string }>(sql`select id from waits where project_id = ${id} and settled_at is null`)).id;
const reminded = async (made: InsertedProject) => {
  const waitId = await waitOf(made);
  await remindOfWait(db, { customerId: 'acme', waitId, projectId: made.id, by: ann.id, atLeastMs: 0 });
  return made;
};
/** Its second phase consumes the first, and is where it is said to be. */
const chained = (status: 'succeeded' | 'failed' = 'succeeded', more = {}) =>
  project(
    [
      { slug: 'a', status: 'succeeded', versions: 1 },
      { slug: 'b', status, versions: 1, dependsOn: ['a'] },
    ],
    more,
  );
const retriggered = async (cascade: 'lazy' | 'strict' | 'none' = 'lazy', more = {}) => {
  const made = await chained('succeeded', more);
  await driver.retrigger(made, 'a', cascade);
  return made;
};
/** The first phase changes while the second one is under way, and then this one ends. */
const overtaken = async (cascade: 'lazy' | 'strict') => {
  const made = await project([{ slug: 'a' }, { slug: 'b', dependsOn: ['a'] }]);
  await driver.run(made, 'a');
  await driver.open(made, 'b');
  await driver.retrigger(made, 'a', cascade);
  await driver.run(made, 'a');
  await driver.end(made, 'b/write');
  return made;
};
const ran = async (how: 'succeeded' | 'failed' = 'succeeded', more: Partial<StepFixture> = {}) => {
  const made = await project([{ slug: 'a', steps: [{ slug: 'write', ...more }] }]);
  await driver.open(made, 'a');
  await driver.end(made, 'a/write', how);
  return made;
};
const retried = async () => {
  const made = await ran('failed');
  await driver.activate(made);
  await driver.retry(made, 'a/write');
  return made;
};
const resumed = async (made: InsertedProject, more = {}) => {
  await commands.resumeProject(db, {
    projectId: made.id,
    ...by(),
    inFlightTaskIds: [],
    effectOf: () => 'idempotent',
    ...more,
  });
  return made;
};
const died = async (crashes: number, effect: 'idempotent' | 'irreversible') => {
  const kind = effect === 'irreversible' ? { kind: 'action' as const, assignee: 'http_post' } : {};
  const made = await project([{ slug: 'a', status: 'running', steps: [{ slug: 'write', crashes, ...kind }] }]);
  await insertAttempt(db, made, 'a/write');
  await commands.recoverPhase(db, { ...(await driver.refOf(made, 'a')), effectOf: () => effect });
  return made;
};
const judged = async () => {
  const steps = [{ slug: 'write' }, { slug: 'judge', role: 'reviewer' as const, outputSchema: { type: 'object' } }];
  const made = await project([{ slug: 'a', steps }]);
  await driver.open(made, 'a');
  await driver.settle(made, 'a/write');
  await driver.begin(made, 'a/judge');
  await driver.settle(made, 'a/judge', 'succeeded', false, '{"approved": false, "feedback": "no"}');
  return made;
};
/** An approved version is changed by Ann before the step behind its gate begins. */
const askedAgain = async (alone: boolean) => {
  const approve = gate('approve', { status: 'pending' });
  const publish = { dependsOn: ['a'], artifactStepSlug: null };
  const made = await project([
    { slug: 'a' },
    { slug: 'b', ...publish, steps: alone ? [approve] : [approve, { slug: 'write' }] },
    { slug: 'c', dependsOn: ['b'] },
  ]);
  await driver.run(made, 'a');
  await driver.open(made, 'b');
  await driver.approve(made, 'b/approve', owner);
  if (alone) await driver.close(made, 'b');
  await driver.retrigger(made, 'a', 'none');
  await driver.run(made, 'a');
  await (alone ? driver.tryToOpen(made, 'c') : driver.begin(made, 'b/write'));
  return made;
};
const enacted = async (kind: 'edit_artifact' | 'retrigger') => {
  const made = await chained();
  const action = { kind, phase_slug: 'a', content: 'By hand', rationale: '' };
  await driver.engine.enactPlan(await enactableSession(driver, made, { actions: [action], cascade: 'lazy', by: ann }));
  return made;
};
const sessionOf = async (made: InsertedProject) => {
  const session = { instruction: 'Shorter', cascade: 'lazy' as const };
  const { task_id: taskId } = await driver.engine.startEditSession({ projectId: made.id, ...session, ...by() });
  return taskId;
};
const planRejected = async () => {
  const made = await project([
    {
      slug: 'a',
      taskKind: 'edit_session',
      status: 'blocked',
      steps: [{ slug: 'planner', status: 'succeeded' }, gate('approve'), { slug: 'enact', status: 'pending' }],
    },
  ]);
  const decision = { decision: 'rejected' as const, comment: null, revisedPlan: null, decidedBy: ann.id };
  await commands.resolveEditPlan(db, { projectId: made.id, taskId: made.taskId('a'), ...decision, ...by() });
  await driver.close(made, 'a');
  return made;
};
const paused = async () => {
  const made = await project([{ slug: 'a' }]);
  await commands.pauseProject(db, { projectId: made.id, ...by() });
  return made;
};
const breached = async () => {
  const made = await project([{ slug: 'a' }]);
  await driver.open(made, 'a');
  const { id, childRunId } = first(await attemptsOf(db, made, 'a/write'));
  await db.rows(sql`
    update runs set status = 'failed', error = 'budget_exceeded: no', error_code = 'budget_exceeded', started_at = now(),
      completed_at = now() where id = ${childRunId}`);
  await driver.engine.settleAndGoOn(
    await driver.refOf(made, 'a'),
    { attemptId: id, next: [], isLast: false },
    () => 'read',
  );
  return made;
};
const turned = async () => {
  const made = await project([{ slug: 'a' }], { costBudgetUsd: '1' });
  await db.rows(sql`update budgets set limit_usd = 1, spent_usd = 0.9 where id = ${`project:${made.id}`}`);
  await driver.open(made, 'a');
  const { id: attemptId } = first(await attemptsOf(db, made, 'a/write'));
  await driver.engine.noteTurn({ attemptId, turn: 1, isLast: false });
  return made;
};

const CAUSES: Record<Topic, Cause[]> = {
  project_started: [
    cause('whoever started it', owner, async () => {
      const made = await project([{ slug: 'a' }], { status: 'planning', startedAt: null, startedBy: owner.id });
      await commands.startProject(db, { projectId: made.id });
      return made;
    }),
    cause('a resume', ann, async () => resumed(await paused())),
    cause('work that is added to a complete project', ann, () => retriggered('lazy', { status: 'completed' })),
    cause('the answer of a webhook gate', external, async () => {
      const made = await waiting({}, { gateKind: 'webhook' });
      await db.rows(sql`update projects set status = 'paused', pause_reason = 'subtask_failed' where id = ${made.id}`);
      await commands.resolveGate(db, { ...answer(made, 'approved'), actor: external });
      return made;
    }),
  ],
  project_completed: [
    cause('the end of its last phase', SYSTEM, async () => {
      const made = await chained();
      await commands.completeProject(db, { projectId: made.id });
      return made;
    }),
  ],
  project_paused: [
    cause('a pause', ann, paused),
    cause('a rejection', ann, () => answered('rejected')),
    cause('a step that failed', SYSTEM, () => ran('failed')),
  ],
  project_reminded: [cause('somebody', ann, async () => reminded(await ran('failed')))],
  edit_session_started: [
    cause('whoever asks for changes', ann, async () => {
      const made = await chained();
      await sessionOf(made);
      return made;
    }),
  ],
  task_started: [cause('the engine', SYSTEM, () => ran())],
  task_succeeded: [
    cause('the end of its last step', SYSTEM, () => ran()),
    cause('whoever chose its artifact', ann, async () => {
      const made = await chained('failed');
      await driver.revert(made, 'b', 1, 'lazy');
      return made;
    }),
  ],
  task_skipped: [
    cause('an abandonment', ann, async () => {
      const made = await project([{ slug: 'a' }]);
      await commands.abandonProject(db, { projectId: made.id, ...by() });
      return made;
    }),
    cause('the rejection of a plan', ann, planRejected),
  ],
  task_stale: [
    cause('a change', ann, () => retriggered()),
    cause('a change while it ran', ann, () => overtaken('lazy')),
    cause('a plan that was approved', ann, () => enacted('edit_artifact')),
  ],
  subtask_attempt_started: [cause('the step', agent, () => ran())],
  subtask_succeeded: [cause('the engine', SYSTEM, () => ran())],
  subtask_failed: [cause('the engine', SYSTEM, () => ran('failed'))],
  subtask_skipped: [cause('the rejection of a plan', ann, planRejected)],
  subtask_alive: [cause('the engine', SYSTEM, turned)],
  review_feedback_recorded: [
    cause('a reviewer', agent, judged),
    cause('whoever rejects at a gate', ann, () => answered('rejected', { on_reject: 'rework' })),
  ],
  gate_awaiting: [
    cause('the engine', SYSTEM, async () => {
      const made = await project([{ slug: 'a', steps: [gate('approve', { status: 'pending' })] }]);
      await driver.open(made, 'a');
      return made;
    }),
  ],
  gate_resolved: [
    cause('whoever answers', ann, () => answered('approved')),
    cause('another system', external, () => answered('approved', {}, { gateKind: 'webhook' }, { actor: external })),
    cause('time', SYSTEM, () => passing('timeout', { due_in_s: 60, on_timeout: 'approve' })),
  ],
  gate_answer_ignored: [
    cause('another system', external, () =>
      answered('approved', { approvers: { api_keys: true } }, {}, { actor: external, lenient: true }),
    ),
  ],
  gate_vote_recorded: [cause('whoever votes', ann, () => answered('approved', { quorum: 2 }))],
  gate_delegated: [
    cause('whoever is asked', ann, async () => {
      for (const email of [ann.id, 'ben@acme.example']) {
        await db.rows(sql`
          insert into workspace_members (id, customer_id, email, role, invited_by)
          values (gen_random_uuid(), 'acme', ${email}, 'member', 'owner') on conflict do nothing`);
      }
      const made = await waiting({ approvers: { members: [ann.id] } });
      const until = new Date(Date.now() + 60_000);
      const delegation = { delegator: ann.id, standIn: 'ben@acme.example', until };
      await delegateGate(db, {
        customerId: 'acme',
        projectId: made.id,
        subtaskId: made.stepId('a/approve'),
        ...delegation,
      });
      return made;
    }),
  ],
  gate_reminded: [
    cause('time', SYSTEM, () => passing('reminder')),
    cause('somebody', ann, async () => reminded(await waiting())),
  ],
  gate_escalated: [cause('time', SYSTEM, () => passing('escalation'))],
  gate_timed_out: [cause('time', SYSTEM, () => passing('timeout'))],
  gate_misconfigured: [
    cause('the engine', SYSTEM, async () => {
      const steps = [gate('wait', { status: 'pending', gateKind: 'schedule', gateConfig: { cron: 'never' } })];
      const made = await project([{ slug: 'a', steps }]);
      await driver.open(made, 'a');
      return made;
    }),
  ],
  artifact_promoted: [cause('the end of its phase', SYSTEM, () => ran())],
  artifact_reverted: [
    cause('whoever chose it', ann, async () => {
      const made = await chained('failed');
      await driver.revert(made, 'b', 1, 'lazy');
      return made;
    }),
  ],
  artifact_set_manually: [cause('whoever approved the plan', ann, () => enacted('edit_artifact'))],
  cascade_skipped: [cause('a change', ann, () => retriggered('none'))],
  subtask_retry_queued: [
    cause('a retry', ann, retried),
    cause('a resume with a retry', ann, async () => resumed(await ran('failed'), { retryFailed: true })),
    cause('whoever changed what a gate had approved', ann, () => askedAgain(false)),
    cause('a failure', SYSTEM, async () => {
      const made = await project([{ slug: 'a' }]);
      await driver.open(made, 'a');
      const { id: attemptId, childRunId } = first(await attemptsOf(db, made, 'a/write'));
      await db.rows(sql`
        update runs set status = 'failed', error = 'no', started_at = now(), completed_at = now() where id = ${childRunId}`);
      await driver.engine.settleAndGoOn(
        await driver.refOf(made, 'a'),
        { attemptId, next: [], isLast: false },
        () => 'read',
      );
      return made;
    }),
  ],
  subtask_retry_triggered: [
    cause('a retry', ann, async () => {
      const made = await retried();
      await driver.open(made, 'a');
      return made;
    }),
  ],
  phase_retriggered: [
    cause('a retrigger', ann, () => retriggered()),
    cause('a plan that was approved', ann, () => enacted('retrigger')),
    cause('a strict change while it ran', ann, () => overtaken('strict')),
    cause('whoever changed what it had approved', ann, () => askedAgain(true)),
  ],
  cost_threshold_warning: [cause('the engine', SYSTEM, turned)],
  cost_budget_breached: [cause('the engine', SYSTEM, breached)],
  crash_recovered: [cause('the engine', SYSTEM, () => died(0, 'idempotent'))],
  repeat_crash_pause: [cause('the engine', SYSTEM, () => died(1, 'idempotent'))],
  nonidempotent_crash_paused: [cause('the engine', SYSTEM, () => died(0, 'irreversible'))],
  nonidempotent_crash_resolved: [
    cause('a retry', ann, async () => {
      const made = await died(0, 'irreversible');
      await driver.retry(made, 'a/write');
      return made;
    }),
    cause('a retrigger', ann, async () => {
      const made = await died(0, 'irreversible');
      await driver.retrigger(made, 'a', 'lazy');
      return made;
    }),
  ],
};

const CASES = (Object.keys(TOPICS) as Topic[]).flatMap((topic) => CAUSES[topic].map((each) => ({ topic, ...each })));

// Guards: the actor of an event is who caused it, also where the event comes later than what they did.
test.each(CASES)('$topic, by $what', async ({ topic, actor, provoke }) => {
  const { id } = await provoke();
  const last = (await eventsOf(db, id)).findLast((event) => event.topic === topic);
  expect(last).toMatchObject({ actor_kind: actor.kind, actor_id: actor.id });
});
