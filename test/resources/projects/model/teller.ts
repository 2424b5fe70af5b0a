/** Carries out the commands of a story on a real project, and holds each answer against the expected one. */
import { expect } from '@jest/globals';
import { last, present } from '../../../../src/platform/core/present.ts';
import type { Database } from '../../../../src/platform/db/client.ts';
import type { Temporal } from '../../../../src/platform/temporal/client.ts';
import { projectWorkflowId } from '../../../../src/resources/projects/model.ts';
import { eventually, type Answer, type Tenant } from '../../../support/service/service.ts';
import { choose, type Command, type Person, type Request, type Restart } from './arbitraries.ts';
import {
  afterCascade,
  decides,
  isInFlight,
  isQuiet,
  nextStep,
  onAbandon,
  onAnswer,
  onDelegate,
  onEdit,
  onPause,
  onPlan,
  onResolve,
  onResume,
  onRetrigger,
  onRetry,
  onRevert,
  onRunStep,
  type Expected,
  type Seen,
} from './expected.ts';
import { readState, type PhaseState, type ProjectState, type StepState } from './record.ts';

export interface Stage {
  db: Database;
  temporal: Temporal;
  /** Whoever starts the project, and the others. */
  people: Readonly<Record<Person, Tenant>>;
  id: string;
  /** The project that its gates of the kind `pipeline_dep` wait for. */
  awaited: string;
  /** How many of the next answers of the sink, and calls of models, are errors. */
  broken: { answers: number; calls: number };
  restartWorker(how: Restart): Promise<void>;
}

/** What a killed worker was at is missed after its heartbeats, 20 s at most, one activity after the other. */
const GOES_ON_MS = 180_000;

const stepsOf = ({ phases }: ProjectState, kind: PhaseState['kind']) =>
  phases.filter((phase) => phase.kind === kind).flatMap(({ steps }) => steps);
/** The ones that are meant, or where there are none all of them. */
const rather = (steps: StepState[], status: string): StepState[] => {
  const meant = steps.filter((step) => step.status === status);
  return meant.length > 0 ? meant : steps;
};

export function createTeller({ db, temporal, people, id, awaited, broken, restartWorker }: Stage) {
  const log: string[] = [];
  const tenant = people.self;
  const post = (path: string, body?: unknown, by = tenant) => {
    const isOfProject = !path.startsWith('/');
    return by.cp('POST', isOfProject ? `/v1/projects/${id}/${path}` : path, body);
  };
  const emailOfSelf = tenant.caller.actor;
  /** What was first seen of each gate that waited. */
  const firstSeen = new Map<string, Seen>();
  /** Starts of phases that were under way when the project's workflow was terminated. */
  const orphans = new Set<string>();
  /** Until the next command that reaches it. */
  let isTerminated = false;
  let isRestarted = false;
  /** A command may be carried out at any later moment. */
  let isUnsure = false;
  const startOf = ({ slug, iteration }: PhaseState) => `${slug}/${iteration}`;
  async function read(): Promise<ProjectState> {
    const state = await readState(db, id);
    for (const step of stepsOf(state, 'regular')) {
      if (step.wait?.isOpen && !firstSeen.has(step.id)) firstSeen.set(step.id, step.wait);
    }
    const isOrphaned = isUnsure || state.phases.some((phase) => isInFlight(phase) && orphans.has(startOf(phase)));
    return { ...state, isOrphaned };
  }

  const logged = (what: string, body: unknown, answer: Answer): Answer => {
    log.push(`${what} ${JSON.stringify(body) ?? ''} -> ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
    return answer;
  };
  async function expectAnswer(path: string, body: unknown, expected: Expected, by?: Tenant): Promise<Answer> {
    const answer = logged(`POST ${path}`, body, await post(path, body, by));
    // What is in the inbox is voted on and handed over without the project's workflow.
    if (answer.status < 300 && path !== 'run-step' && !path.startsWith('/')) isTerminated = false;
    // Nobody answered in time, as the worker was changing. It may still be carried out.
    if (answer.status === 502 && isRestarted) isUnsure = true;
    else if (!expected.includes(answer.status)) throw new Error(`expected ${expected.join(' or ')}: ${log.at(-1)}`);
    return answer;
  }
  async function limit(slugs: readonly string[], to: string | null): Promise<void> {
    const body = { phase_cost_budgets: Object.fromEntries(slugs.map((slug) => [slug, to])) };
    const { status } = logged('PATCH', body, await tenant.cp('PATCH', `/v1/projects/${id}`, body));
    if (status !== 200) throw new Error(`expected 200: ${log.at(-1)}`);
  }
  const slugsOf = ({ phases }: ProjectState) => phases.flatMap(({ kind, slug }) => (kind === 'regular' ? slug : []));
  const statusesOf = ({ phases }: ProjectState) => Object.fromEntries(phases.map(({ slug, status }) => [slug, status]));

  /** @returns how many attempts may begin although the project is paused */
  async function request(command: Request, before: ProjectState, isTheOnly: boolean): Promise<number> {
    // What nobody answered for may come between the look at the project and this.
    const isAlone = isTheOnly && !isUnsure;
    const isKnown = isAlone && isQuiet(before);
    const within = (expected: Expected): Expected => (isAlone ? expected : [...new Set([...expected, 200, 201, 409])]);
    const regular = before.phases.filter(({ kind }) => kind === 'regular');
    switch (command.does) {
      case 'pause': {
        const { status } = await expectAnswer('pause', undefined, within(onPause(before)));
        if (isAlone && status === 200) {
          expect(await read()).toMatchObject({ status: 'paused', pauseReason: 'requested' });
        }
        return 0;
      }
      case 'resume':
        await expectAnswer('resume', undefined, within(onResume(before)));
        return 0;
      case 'abandon': {
        const { status } = await expectAnswer('abandon', undefined, within(onAbandon(before)));
        if (status === 200) expect(await read()).toMatchObject({ status: 'abandoned' });
        return 0;
      }
      case 'runStep': {
        const next = nextStep(before);
        const { status, body } = await expectAnswer('run-step', undefined, within(onRunStep(before)));
        if (!isKnown || status !== 200) return 1;
        if (before.status === 'completed' || !next) expect(body.ran_step).toBe(false);
        else expect(body.subtask_id).toBe(next.id);
        return 1;
      }
      case 'retry': {
        const step = present(
          choose(
            rather(
              before.phases.flatMap(({ steps }) => steps),
              'failed',
            ),
            command.which,
          ),
        );
        const query = command.addendum ? '?addendum_brief=Better+now' : '';
        await expectAnswer(`subtasks/${step.id}/retry${query}`, undefined, within(onRetry(before, step)));
        return 0;
      }
      case 'retrigger': {
        const phase = present(choose(regular, command.which));
        const body = { cascade: command.cascade, ...(command.addendum && { addendum_brief: 'Again' }) };
        const path = `phases/${phase.slug}/retrigger`;
        const { status } = await expectAnswer(path, body, within(onRetrigger(before, phase)));
        if (status !== 200 || !isKnown || before.status !== 'paused') return 0;
        const expected = afterCascade(before, phase.slug, command.cascade).set(phase.slug, 'pending');
        expect(statusesOf(await read())).toEqual(Object.fromEntries(expected));
        return 0;
      }
      case 'revert': {
        const phase = present(choose(regular, command.which));
        const version = 1 + Math.floor(command.version * (phase.versions.length + 1));
        const body = { target_version: version, cascade: command.cascade };
        const allowed = within(onRevert(before, phase, version));
        const expected = isAlone ? allowed : [...allowed, 404];
        const answer = await expectAnswer(`phases/${phase.slug}/revert-artifact`, body, expected);
        if (answer.status !== 200 || !isKnown) return 0;
        const after = await read();
        expect(after.phases.find(({ slug }) => slug === phase.slug)).toMatchObject({ current: version });
        if (before.status !== 'paused') return 0;
        const isOther = version !== phase.current;
        const statuses = new Map<string, string>(before.phases.map(({ slug, status }) => [slug, status]));
        for (const [slug, status] of isOther ? afterCascade(before, phase.slug, command.cascade) : []) {
          statuses.set(slug, status);
        }
        if (phase.status === 'stale' || phase.status === 'failed') statuses.set(phase.slug, 'succeeded');
        expect(statusesOf(after)).toEqual(Object.fromEntries(statuses));
        return 0;
      }
      case 'resolve': {
        const gates = stepsOf(before, 'regular').filter(({ kind }) => kind === 'gate');
        const gate = choose(rather(gates, 'blocked'), command.which);
        if (!gate) return 0;
        if (gate.gateKind === 'webhook') return tellFromOutside(gate, command.decision);
        const body = { decision: command.decision, comment: 'Said so' };
        if (gate.gateKind !== 'human') {
          await expectAnswer(`subtasks/${gate.id}/resolve-gate`, body, [409]);
          return 0;
        }
        await expectAnswer(`subtasks/${gate.id}/resolve-gate`, body, within(onResolve(before, gate, emailOfSelf)));
        return 0;
      }
      case 'answer': {
        const gates = stepsOf(before, 'regular').filter(({ wait }) => wait !== null);
        const gate = choose(rather(gates, 'blocked'), command.which);
        const wait = gate?.wait;
        if (!gate || !wait) return 0;
        const seen = command.sees === 'before' ? present(firstSeen.get(gate.id) ?? wait) : wait;
        const by = people[command.by];
        const who = by.caller.actor;
        const body = { answer: command.answer, revision: seen.revision };
        const predicted = onAnswer(before, gate, who, seen);
        // Neither a race nor a restart lets an answer count that was given to something else.
        const expected = predicted.includes(200) || predicted.includes(403) ? within(predicted) : predicted;
        const answer = await expectAnswer(`/v1/inbox/${seen.id}/answer`, body, expected, by);
        if (answer.status !== 200 || !isKnown) return 0;
        const isDecided = command.answer === 'reject' || decides(gate, who);
        expect(answer.body).toMatchObject({ status: isDecided ? 'settled' : 'open' });
        const now = present(stepsOf(await read(), 'regular').find((each) => each.id === gate.id));
        expect(now.status === 'blocked').toBe(!isDecided);
        return 0;
      }
      case 'delegate': {
        const gates = stepsOf(before, 'regular').filter(({ wait }) => wait !== null);
        const gate = choose(rather(gates, 'blocked'), command.which);
        if (!gate?.wait) return 0;
        const from = people[command.from];
        const to = people[command.to].caller.actor;
        const body = { to, until: new Date(Date.now() + 3_600_000).toISOString() };
        const predicted = onDelegate(before, gate, from.caller.actor, to);
        const expected = isAlone ? predicted : [...new Set([...predicted, 200, 400, 403, 409])];
        await expectAnswer(`/v1/inbox/${gate.wait.id}/delegate`, body, expected, from);
        return 0;
      }
      case 'edit': {
        const body = { instruction: 'Make it better', cascade_mode: command.cascade };
        await expectAnswer('edit-sessions', body, within(onEdit(before)));
        return 0;
      }
      case 'plan': {
        const sessions = before.phases.filter(({ kind }) => kind === 'edit_session');
        const session = choose(sessions, command.which);
        if (!session) return 0;
        const phase_slug = present(choose(regular, command.phase)).slug;
        const revised_plan = {
          summary: 'So',
          actions: [
            { kind: 'edit_artifact', phase_slug, content: 'By hand', rationale: 'It is better' },
            { kind: 'instruct', phase_slug: last(regular).slug, instructions: 'Shorter', rationale: 'It is long' },
          ],
        };
        const body = { decision: command.decision, ...(command.decision === 'edit_plan' && { revised_plan }) };
        const gate = present(session.steps.find(({ kind }) => kind === 'gate'));
        await expectAnswer(
          `edit-sessions/${session.id}/approve`,
          body,
          within(onPlan(before, session, gate, command.decision)),
        );
        return 0;
      }
    }
  }

  /** A signal has no answer; and what says something from outside may wake a project. */
  async function tellFromOutside({ id: subtask_id }: StepState, decision: string): Promise<number> {
    await temporal.client.workflow
      .getHandle(projectWorkflowId(id))
      .signal('resolveGate', { subtask_id, decision, decided_by: 'ci' })
      .catch(() => {});
    return 0;
  }

  /** Nobody else asks for anything of it. */
  async function completeAwaited(): Promise<void> {
    const { phases, status } = await readState(db, awaited);
    const gate = present(phases.flatMap(({ steps }) => steps).find((step) => step.kind === 'gate'));
    if (status === 'completed' || gate.status !== 'blocked') return;
    const path = `/v1/projects/${awaited}/subtasks/${gate.id}/resolve-gate`;
    const answer = logged('POST of the awaited', {}, await tenant.cp('POST', path, { decision: 'approved' }));
    if (![200, 409, ...(isRestarted ? [502] : [])].includes(answer.status)) throw new Error(log.at(-1));
  }

  return {
    log,
    /** @returns how many attempts may have begun although the project is paused */
    async tell(command: Command): Promise<number> {
      const before = await read();
      log.push(`-- ${JSON.stringify(command)} ${before.status} ${JSON.stringify(statusesOf(before))}`);
      switch (command.does) {
        case 'let':
          await eventually(async () => {
            const now = await read();
            if (isTerminated || isUnsure || isQuiet(now) || now.phases.some(({ status }) => status === 'blocked'))
              return;
            if (now.events < before.events + command.events) throw new Error(`only ${now.events} events`);
          }, GOES_ON_MS).catch((error: unknown) => {
            throw new Error('nothing goes on', { cause: error });
          });
          return 0;
        case 'letAll':
          await eventually(async () => {
            const { phases } = await read();
            const isGoing = phases.some(
              ({ status, steps }) => status === 'pending' || steps.some((step) => step.isRunning || step.isQueued),
            );
            if (isGoing) throw new Error('something goes on');
          }, GOES_ON_MS);
          return 0;
        case 'completeAwaited':
          await completeAwaited();
          return 0;
        case 'breakSink':
          broken.answers += 1;
          return 0;
        case 'breakModel':
          broken.calls += command.calls;
          return 0;
        case 'budget':
          await limit([present(choose(slugsOf(before), command.which))], command.limit);
          return 0;
        case 'restart':
          await restartWorker(command.how);
          isRestarted = true;
          return 0;
        case 'terminate':
          await temporal.client.workflow
            .getHandle(projectWorkflowId(id))
            .terminate('by an operator')
            .catch(() => {});
          isTerminated = true;
          for (const phase of (await read()).phases) orphans.add(startOf(phase));
          return 0;
        case 'unknown': {
          const nowhere = before.status === 'abandoned' ? [404, 409] : [404];
          await expectAnswer('phases/nowhere/retrigger', {}, nowhere);
          await expectAnswer(`subtasks/${crypto.randomUUID()}/retry`, undefined, nowhere);
          return 0;
        }
        case 'race': {
          const grants = await Promise.all(command.commands.map((each) => request(each, before, false)));
          return grants.reduce((sum, each) => sum + each, 0);
        }
        case 'pause':
        case 'resume':
        case 'abandon':
        case 'runStep':
        case 'retry':
        case 'retrigger':
        case 'revert':
        case 'resolve':
        case 'answer':
        case 'delegate':
        case 'edit':
        case 'plan':
          return request(command, before, true);
      }
    },

    /** Does what a person can do for a project that does not go on by itself. */
    async help(): Promise<void> {
      const state = await read();
      if (state.pauseReason === 'budget_breached') await limit(slugsOf(state), null);
      for (const phase of state.phases) {
        const isFailed = phase.status === 'failed';
        // Each way out that there is: some phases are retried, some are completed with what they had.
        if (isFailed && phase.kind === 'edit_session') {
          await expectAnswer(`edit-sessions/${phase.id}/approve`, { decision: 'rejected' }, [200, 409]);
          continue;
        }
        if (isFailed && phase.current !== null && phase.iteration % 2 === 0) {
          const body = { target_version: phase.current, cascade: 'lazy' };
          await expectAnswer(`phases/${phase.slug}/revert-artifact`, body, [200, 409]);
          continue;
        }
        for (const step of phase.steps) {
          const { id: stepId, kind, gateKind, status, isQueued } = step;
          if (status === 'failed' && !isQueued) await expectAnswer(`subtasks/${stepId}/retry`, undefined, [200, 409]);
          if (kind !== 'gate' || status !== 'blocked') continue;
          if (gateKind === 'webhook') await tellFromOutside(step, 'approved');
          if (gateKind === 'pipeline_dep') await completeAwaited();
          if (gateKind !== 'human') continue;
          for (const by of Object.values(people)) {
            await expectAnswer(`subtasks/${stepId}/resolve-gate`, { decision: 'approved' }, [200, 403, 409], by);
          }
        }
      }
      if (isTerminated && state.status === 'active') await expectAnswer('pause', undefined, [200, 409]);
      if (state.status === 'paused') await expectAnswer('resume', undefined, [200, 409]);
    },
  };
}
