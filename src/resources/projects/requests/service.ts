/**
 * What a caller can do to a project. Every command is an update of the project's workflow, which decides and records;
 * the workflow also refuses what the state of the project forbids. This service checks only that what a command names
 * exists.
 */
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
  type GateCommand,
} from '../../../../workflows/project/messages.ts';
import { itemAt } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { found } from '../../../platform/db/client.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import type { Claim } from '../../../platform/http/once-only.ts';
import { GATE_KIND_RULES, isAnswerable, type AnswerableGateKind } from '../../templates/gates/kinds/model.ts';
import type { GateKind } from '../../templates/model.ts';
import { uuid } from '../ids.ts';
import { DECISIONS, PLAN_DECISIONS, type Actor, type Decision, type ProjectStatus, type Seen } from '../model.ts';
import type { EditPlan } from '../edit-plans/model.ts';
import type { EditSessionRequest, GateRequest, PlanRequest, RetriggerRequest, RevertRequest } from './contract.ts';
import { mayRaiseCaps } from '../stops/model.ts';
import { createSender, type SenderDependencies } from './send.ts';

export type ProjectCommands = ReturnType<typeof createProjectCommands>;

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

const MAX_DECIDED_BY = 64;

const actorOf = ({ actor }: Caller): Actor => ({ kind: 'human', id: actor });
const deciderOf = ({ actor }: Caller): string => actor.slice(0, MAX_DECIDED_BY).toWellFormed();

/** A gate of this kind is answered by them. */
const isAnsweredBy = (who: 'people' | 'systems', kind: GateKind | null): kind is AnswerableGateKind =>
  kind !== null && GATE_KIND_RULES[kind].answeredBy === who;

function known<Word extends string>(words: readonly Word[], said: string): Word {
  const word = words.find((each) => each === said);
  if (word === undefined) throw new Problem('bad_request', `invalid decision: ${said.slice(0, 100).toWellFormed()}`);
  return word;
}

export const createProjectCommands = ({ temporal, store, starter }: SenderDependencies) => {
  /** Looks at the same record as the update will, so that a gate that no longer waits is refused early. */
  async function checkWaiting(customerId: string, { project_id, subtask_id }: SubtaskAddress): Promise<void> {
    const { status } = found(await store.findSubtaskState(customerId, project_id, uuid(subtask_id)));
    if (status !== 'blocked') throw new Problem('gate_not_waiting', `the gate is ${status}`);
  }

  /** @returns the project, where something can still be done to it */
  async function open(customerId: string, projectId: string) {
    const project = found(await store.findProjectState(customerId, projectId));
    requireGoing(project.status);
    return project;
  }

  /** @returns the step, where something can still be done to its project */
  async function openSubtask(customerId: string, { project_id, subtask_id }: SubtaskAddress) {
    const subtask = found(await store.findSubtaskState(customerId, project_id, uuid(subtask_id)));
    requireGoing(subtask.projectStatus);
    return subtask;
  }

  /** @throws Problem not_found, also for an edit session, because that is no phase of the pipeline */
  async function openPhase(customerId: string, { project_id, phase_slug }: PhaseAddress): Promise<void> {
    const phases = await store.listPhaseSlugs(customerId, project_id);
    found(phases.find((slug) => slug === phase_slug));
    await open(customerId, project_id);
  }

  const { send, sendLong } = createSender({ temporal, store, starter });

  return {
    async pause(caller: Caller, projectId: string) {
      await open(caller.customerId, projectId);
      const { status } = await send(projectId, pauseUpdate, { actor: actorOf(caller) });
      return { project_id: projectId, status };
    },

    /** @param how says, for an answer in the inbox, which wait it is bound to and what else it asks for */
    async resume(
      caller: Caller,
      projectId: string,
      how: { seen?: Seen; retryFailed?: boolean; raiseByUsd?: string } = {},
      claim?: Claim,
    ) {
      await open(caller.customerId, projectId);
      const rights = how.raiseByUsd !== undefined && mayRaiseCaps(caller) && { mayRaiseCaps: true };
      return send(projectId, resumeUpdate, { actor: actorOf(caller), ...how, ...rights }, { claim });
    },

    async abandon(caller: Caller, projectId: string, seen?: Seen, claim?: Claim) {
      await open(caller.customerId, projectId);
      const args = { actor: actorOf(caller), ...(seen && { seen }) };
      const { status } = await send(projectId, abandonUpdate, args, { claim });
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
      await send(
        address.project_id,
        retrySubtaskUpdate,
        { actor: actorOf(caller), subtaskId: id },
        { texts: { addendum } },
      );
      const attempt = await store.findLatestAttempt(caller.customerId, id);
      return attempt ?? found(await store.findSubtask(caller.customerId, address.project_id, id));
    },

    async resolveGate(caller: Caller, address: SubtaskAddress, body: GateRequest, claim?: Claim) {
      const decision = known(DECISIONS, body.decision);
      const { id, gateKind } = await openSubtask(caller.customerId, address);
      if (!isAnsweredBy('people', gateKind)) throw new Problem('gate_not_waiting', 'not a human gate');
      const answer = { subtask_id: id, decision, decided_by: deciderOf(caller) };
      const { comment } = body;
      await send(
        address.project_id,
        resolveGateUpdate,
        { ...answer, actor: actorOf(caller), gateKind },
        { texts: { comment }, check: () => checkWaiting(caller.customerId, address), claim },
      );
      return found(await store.findSubtask(caller.customerId, address.project_id, id));
    },

    /**
     * Takes an answer in the inbox to a gate of either kind. The command that records it checks what the answer is
     * bound to.
     */
    async answerGate(
      caller: Caller,
      address: SubtaskAddress,
      { decision, comment, seen }: { decision: Decision; comment: string | null; seen: Seen },
      claim?: Claim,
    ): Promise<void> {
      const { id, gateKind } = await openSubtask(caller.customerId, address);
      const answer = { subtask_id: id, decision, decided_by: deciderOf(caller) };
      const of = { gateKind: gateKind !== null && isAnswerable(gateKind) ? gateKind : 'human', seen };
      const args = { ...answer, actor: actorOf(caller), ...of };
      await send(address.project_id, resolveGateUpdate, args, { texts: { comment }, claim });
    },

    /** Serves external systems, which answer through an agent's tool. */
    async resolveWebhookGate(customerId: string, projectId: string, answer: GateCommand) {
      const { id, gateKind } = await openSubtask(customerId, { project_id: projectId, subtask_id: answer.subtask_id });
      if (!isAnsweredBy('systems', gateKind)) throw new Problem('not_found', 'not a webhook gate');
      const actor: Actor = { kind: 'external', id: answer.decided_by ?? null };
      const { decision, decided_by, comment = null, payload = null } = answer;
      const decided = { subtask_id: id, decision, ...(decided_by !== undefined && { decided_by }) };
      return send(
        projectId,
        resolveGateUpdate,
        { ...decided, actor, gateKind },
        {
          texts: { comment, payload },
          check: () => checkWaiting(customerId, { project_id: projectId, subtask_id: id }),
        },
      );
    },

    async retrigger(caller: Caller, address: PhaseAddress, { addendum_brief: addendum, cascade }: RetriggerRequest) {
      const { project_id: projectId, phase_slug: phaseSlug } = address;
      await openPhase(caller.customerId, address);
      const args = { actor: actorOf(caller), phaseSlug, cascade };
      const result = await send(projectId, retriggerUpdate, args, { texts: { addendum } });
      return { ...address, ...result };
    },

    async revertArtifact(caller: Caller, address: PhaseAddress, body: RevertRequest) {
      const { project_id: projectId, phase_slug: phaseSlug } = address;
      const { target_version: version, cascade, reason } = body;
      await openPhase(caller.customerId, address);
      const isThere = await store.isArtifactVersion(caller.customerId, projectId, { phaseSlug, version });
      if (!isThere) throw new Problem('not_found');
      const args = { actor: actorOf(caller), phaseSlug, targetVersion: version, cascade };
      const { artifactId, ...cascaded } = await send(projectId, revertUpdate, args, { texts: { reason } });
      return { artifact: found(await store.findArtifact(caller.customerId, projectId, artifactId)), ...cascaded };
    },

    async startEditSession(caller: Caller, projectId: string, { instruction, cascade_mode }: EditSessionRequest) {
      await open(caller.customerId, projectId);
      return send(
        projectId,
        editSessionUpdate,
        { actor: actorOf(caller), cascade: cascade_mode },
        { texts: { instruction } },
      );
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
        { texts: { comment: body.comment, revisedPlan }, claim },
      );
      return found(await store.findTask(caller.customerId, projectId, task.id));
    },
  };
};

/** @throws Problem project_ended */
function requireGoing(status: ProjectStatus): void {
  if (status === 'abandoned') throw new Problem('project_ended', 'the project was abandoned');
}

function requirePhases({ actions }: EditPlan, phases: readonly string[]): void {
  const at = actions.findIndex(({ phase_slug }) => !phases.includes(phase_slug));
  if (at < 0) return;
  const unknown = itemAt(actions, at).phase_slug;
  throw new Problem(
    'bad_request',
    `revised_plan.actions.${at}: unknown phase "${unknown}"; there are ${phases.join(', ')}`,
  );
}
