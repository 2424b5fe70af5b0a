/**
 * What a caller can do to a project. Every command is an update of its workflow, which decides and records: what is
 * refused for the state that the project is in is refused there. Here a command is only checked for what it names.
 */
import type { UpdateDefinition } from '@temporalio/common';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  abandonUpdate,
  editSessionUpdate,
  pauseUpdate,
  resolveGateUpdate,
  resolvePlanUpdate,
  resumeUpdate,
  retriggerUpdate,
  retrySubtaskUpdate,
  revertUpdate,
  runStepUpdate,
  type GateAnswer,
} from '../../../../workflows/project/messages.ts';
import { newUuid } from '../../../platform/core/ids.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { found } from '../../../platform/db/client.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import type { Claim } from '../../../platform/http/once-only.ts';
import type { Temporal } from '../../../platform/temporal/client.ts';
import {
  isUpdateLost,
  namedIfUnreachable,
  rethrowAsProblem,
  withinDeadline,
} from '../../../platform/temporal/problems.ts';
import { uuid } from '../ids.ts';
import {
  DECISIONS,
  PLAN_DECISIONS,
  projectWorkflowId,
  type Actor,
  type CommandTexts,
  type Decision,
  type EditPlan,
  type Seen,
} from '../model.ts';
import type { ProjectStarter } from '../start.ts';
import type { ProjectStore } from '../store/index.ts';
import type { EditSessionRequest, GateRequest, PlanRequest, RetriggerRequest, RevertRequest } from './contract.ts';
import { createQueue } from './queue.ts';

export type ProjectCommands = ReturnType<typeof createProjectCommands>;

export interface ProjectCommandsDependencies {
  temporal: Temporal;
  store: ProjectStore;
  starter: ProjectStarter;
}

interface SubtaskAddress {
  project_id: string;
  subtask_id: string;
}
interface PhaseAddress {
  project_id: string;
  phase_slug: string;
}
interface TaskAddress {
  project_id: string;
  task_id: string;
}

/** An update may find its workflow closing, or be passed over among many: now and then, hardly ever twice. */
const MAX_TRIES = 5;
const PAUSE_MS = 50;
const MAX_DECIDED_BY = 64;

const actorOf = ({ actor }: Caller): Actor => ({ kind: 'human', id: actor });
const deciderOf = ({ actor }: Caller): string => actor.slice(0, MAX_DECIDED_BY).toWellFormed();

function known<Word extends string>(words: readonly Word[], said: string): Word {
  const word = words.find((each) => each === said);
  if (word === undefined) throw new Problem('bad_request', `invalid decision: ${said.slice(0, 100).toWellFormed()}`);
  return word;
}

export const createProjectCommands = ({ temporal, store, starter }: ProjectCommandsDependencies) => {
  /** As the update itself looks, at the same record. */
  async function checkWaiting(customerId: string, { project_id, subtask_id }: SubtaskAddress): Promise<void> {
    const { status } = found(await store.findSubtask(customerId, project_id, uuid(subtask_id)));
    if (status !== 'blocked') throw new Problem('gate_not_waiting', `the gate is ${status}`);
  }

  /** The project, if there is still something that can be done to it. */
  async function open(customerId: string, projectId: string) {
    const project = found(await store.findProjectState(customerId, projectId));
    if (project.status === 'abandoned') throw new Problem('project_ended', 'the project was abandoned');
    return project;
  }

  async function openSubtask(customerId: string, { project_id, subtask_id }: SubtaskAddress) {
    const subtask = found(await store.findSubtask(customerId, project_id, uuid(subtask_id)));
    await open(customerId, project_id);
    return subtask;
  }

  /** @throws Problem not_found also for an edit session, which is no phase of the pipeline */
  async function openPhase(customerId: string, { project_id, phase_slug }: PhaseAddress): Promise<void> {
    const phases = await store.listPhaseSlugs(customerId, project_id);
    found(phases.find((slug) => slug === phase_slug));
    await open(customerId, project_id);
  }

  const inTurn = createQueue();

  /** The first attempt takes the workflow to be open, as it nearly always is: starting it takes the whole board. */
  async function again<T>(attempt: (isClosed: boolean) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(tries > 1);
      } catch (error) {
        if (!isUpdateLost(error)) throw error;
        if (tries === MAX_TRIES) throw new Problem('runtime_unreachable');
        if (tries > 1) await sleep(tries * PAUSE_MS);
      }
    }
  }

  const handleOf = (projectId: string) => temporal.client.workflow.getHandle(projectWorkflowId(projectId));

  /**
   * An id of its own for each request: a repeated one would be told the first answer, where it must hear a 409. The same
   * for each attempt at it: one that was lost may have been recorded, and is then told what it came to. So is a request
   * that is told apart by a key: the record knows its token.
   */
  const prepare = <Args>(args: Args, claim?: Claim) => ({
    args: [args] as [Args],
    updateId: claim?.token ?? newUuid(),
  });

  /**
   * Answers when the update is through.
   * @param texts what the caller says in its own words; kept under the id of the update, out of its history
   * @param check refuses, once it is its turn, what the record shows to be too late: of many commands at once those that
   * have lost would otherwise each take an update's time, until the last ones hear that the runtime does not answer
   */
  const send = <Result, Args>(
    projectId: string,
    update: UpdateDefinition<Result, [Args]>,
    args: Args,
    texts?: CommandTexts,
    check: () => Promise<void> = async () => {},
    claim?: Claim,
  ): Promise<Result> => {
    const prepared = prepare(args, claim);
    let isTextKept = texts === undefined;
    let isChecked = claim?.isRepeated ?? false;
    const attempt = async (isClosed: boolean) => {
      // Not again: an attempt that was lost may have been what made it too late.
      if (!isChecked) await check();
      isChecked = true;
      if (!isTextKept) await store.keepCommandTexts({ projectId, commandId: prepared.updateId }, texts!);
      isTextKept = true;
      if (!isClosed) return handleOf(projectId).executeUpdate(update, prepared);
      const startWorkflowOperation = await starter.operation(projectId);
      return temporal.client.workflow.executeUpdateWithStart(update, { ...prepared, startWorkflowOperation });
    };
    const inItsTurn = (isClosed: boolean) => inTurn(projectId, () => attempt(isClosed));
    return withinDeadline(temporal, () => again(inItsTurn)).catch(rethrowAsProblem);
  };

  /** Answers when the update is through, however long that takes; that it was taken is known within the deadline. */
  const sendLong = <Result, Args>(projectId: string, update: UpdateDefinition<Result, [Args]>, args: Args) => {
    const prepared = { ...prepare(args), waitForStage: 'ACCEPTED' as const };
    const attempt = async (isClosed: boolean) => {
      if (!isClosed) return handleOf(projectId).startUpdate(update, prepared);
      const startWorkflowOperation = await starter.operation(projectId);
      return temporal.client.workflow.startUpdateWithStart(update, { ...prepared, startWorkflowOperation });
    };
    return again(async (isClosed) => {
      const accepted = await withinDeadline(temporal, () => inTurn(projectId, () => attempt(isClosed)));
      return accepted.result().catch((error: unknown) => {
        throw namedIfUnreachable(error);
      });
    }).catch(rethrowAsProblem);
  };

  return {
    async pause(caller: Caller, projectId: string) {
      await open(caller.customerId, projectId);
      const { status } = await send(projectId, pauseUpdate, { actor: actorOf(caller) });
      return { project_id: projectId, status };
    },

    /** @param how of an answer in the inbox: what it is bound to, and what else it asks for */
    async resume(
      caller: Caller,
      projectId: string,
      how: { seen?: Seen; retryFailed?: boolean; raiseByUsd?: string } = {},
      claim?: Claim,
    ) {
      await open(caller.customerId, projectId);
      return send(projectId, resumeUpdate, { actor: actorOf(caller), ...how }, undefined, undefined, claim);
    },

    async abandon(caller: Caller, projectId: string, seen?: Seen, claim?: Claim) {
      await open(caller.customerId, projectId);
      const args = { actor: actorOf(caller), ...(seen && { seen }) };
      const { status } = await send(projectId, abandonUpdate, args, undefined, undefined, claim);
      return { project_id: projectId, status };
    },

    async runStep(caller: Caller, projectId: string) {
      const notRun = (message: string) => ({ ran_step: false as const, message });
      const { status } = await open(caller.customerId, projectId);
      if (status === 'active') return notRun('the project is active and dispatches its steps itself: pause it first');
      if (status === 'completed') return notRun('the project is completed: no step is left');
      const ran = await sendLong(projectId, runStepUpdate, { actor: actorOf(caller) });
      if (!ran)
        return notRun('no step can be dispatched: each is done, in flight, failed or waits for one that is not done');
      const subtask = found(await store.findSubtask(caller.customerId, projectId, ran.subtaskId));
      const attempt = await store.findLatestAttempt(caller.customerId, subtask.id);
      return {
        subtask_id: subtask.id,
        status: subtask.status,
        attempt_number: attempt?.attempt_number ?? null,
        attempt_reason: attempt?.attempt_reason ?? null,
        output_validated: attempt?.output_validated ?? null,
        error: attempt?.error ?? subtask.error,
        duration_ms: attempt?.duration_ms ?? null,
      };
    },

    async retrySubtask(caller: Caller, address: SubtaskAddress, addendum: string | null) {
      const { id } = await openSubtask(caller.customerId, address);
      await send(address.project_id, retrySubtaskUpdate, { actor: actorOf(caller), subtaskId: id }, { addendum });
      const attempt = await store.findLatestAttempt(caller.customerId, id);
      return attempt ?? found(await store.findSubtask(caller.customerId, address.project_id, id));
    },

    async resolveGate(caller: Caller, address: SubtaskAddress, body: GateRequest, claim?: Claim) {
      const decision = known(DECISIONS, body.decision);
      const { id, gate_kind } = await openSubtask(caller.customerId, address);
      if (gate_kind !== 'human') throw new Problem('gate_not_waiting', 'not a human gate');
      const answer = { subtask_id: id, decision, decided_by: deciderOf(caller) };
      const { comment } = body;
      await send(
        address.project_id,
        resolveGateUpdate,
        { ...answer, actor: actorOf(caller), gateKind: 'human' },
        { comment },
        () => checkWaiting(caller.customerId, address),
        claim,
      );
      return found(await store.findSubtask(caller.customerId, address.project_id, id));
    },

    /** An answer in the inbox, to a gate of either kind: what it is bound to is looked at where it is recorded. */
    async answerGate(
      caller: Caller,
      address: SubtaskAddress,
      { decision, comment, seen }: { decision: Decision; comment: string | null; seen: Seen },
      claim?: Claim,
    ): Promise<void> {
      const { id, gate_kind } = await openSubtask(caller.customerId, address);
      const gateKind = gate_kind === 'webhook' ? 'webhook' : 'human';
      const answer = { subtask_id: id, decision, decided_by: deciderOf(caller) };
      const args = { ...answer, actor: actorOf(caller), gateKind, seen } as const;
      await send(address.project_id, resolveGateUpdate, args, { comment }, undefined, claim);
    },

    /** For external systems, through an agent's tool. */
    async resolveWebhookGate(customerId: string, projectId: string, answer: GateAnswer) {
      const { id, gate_kind } = await openSubtask(customerId, { project_id: projectId, subtask_id: answer.subtask_id });
      if (gate_kind !== 'webhook') throw new Problem('not_found', 'not a webhook gate');
      const actor: Actor = { kind: 'external', id: answer.decided_by ?? null };
      const { decision, decided_by, comment = null, payload = null } = answer;
      const decided = { subtask_id: id, decision, ...(decided_by !== undefined && { decided_by }) };
      const texts = { comment, payload };
      return send(projectId, resolveGateUpdate, { ...decided, actor, gateKind: 'webhook' }, texts, () =>
        checkWaiting(customerId, { project_id: projectId, subtask_id: id }),
      );
    },

    async retrigger(caller: Caller, address: PhaseAddress, { addendum_brief: addendum, cascade }: RetriggerRequest) {
      const { project_id: projectId, phase_slug: phaseSlug } = address;
      await openPhase(caller.customerId, address);
      const args = { actor: actorOf(caller), phaseSlug, cascade };
      const result = await send(projectId, retriggerUpdate, args, { addendum });
      return { ...address, ...result };
    },

    async revertArtifact(caller: Caller, address: PhaseAddress, body: RevertRequest) {
      const { project_id: projectId, phase_slug: phaseSlug } = address;
      const { target_version: version, cascade, reason } = body;
      await openPhase(caller.customerId, address);
      const isThere = await store.isArtifactVersion(caller.customerId, projectId, { phaseSlug, version });
      if (!isThere) throw new Problem('not_found');
      const args = { actor: actorOf(caller), phaseSlug, targetVersion: version, cascade };
      const { artifactId, ...cascaded } = await send(projectId, revertUpdate, args, { reason });
      return { artifact: found(await store.findArtifact(caller.customerId, projectId, artifactId)), ...cascaded };
    },

    async startEditSession(caller: Caller, projectId: string, { instruction, cascade_mode }: EditSessionRequest) {
      await open(caller.customerId, projectId);
      return send(projectId, editSessionUpdate, { actor: actorOf(caller), cascade: cascade_mode }, { instruction });
    },

    async resolveEditPlan(
      caller: Caller,
      { project_id: projectId, task_id }: TaskAddress,
      body: PlanRequest,
      claim?: Claim,
      seen?: Seen,
    ) {
      const decision = known(PLAN_DECISIONS, body.decision);
      const revisedPlan = (body.revised_plan ?? null) as EditPlan | null;
      if ((decision === 'edit_plan') !== (revisedPlan !== null)) {
        throw new Problem('bad_request', 'revised_plan goes with the decision edit_plan, and only with it');
      }
      const task = found(await store.findTask(caller.customerId, projectId, uuid(task_id)));
      if (task.task_kind !== 'edit_session') throw new Problem('not_found');
      await open(caller.customerId, projectId);
      if (revisedPlan) requirePhases(revisedPlan, await store.listPhaseSlugs(caller.customerId, projectId));
      await send(
        projectId,
        resolvePlanUpdate,
        { actor: actorOf(caller), taskId: task.id, decision, decidedBy: deciderOf(caller), ...(seen && { seen }) },
        { comment: body.comment, revisedPlan },
        undefined,
        claim,
      );
      return found(await store.findTask(caller.customerId, projectId, task.id));
    },
  };
};

function requirePhases({ actions }: EditPlan, phases: readonly string[]): void {
  const at = actions.findIndex(({ phase_slug }) => !phases.includes(phase_slug));
  if (at < 0) return;
  const unknown = actions[at]!.phase_slug;
  throw new Problem(
    'bad_request',
    `revised_plan.actions.${at}: unknown phase "${unknown}"; there are ${phases.join(', ')}`,
  );
}
