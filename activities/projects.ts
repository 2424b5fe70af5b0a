/**
 * Records what the workflows of a project and its phases decide. Each activity is one transaction of the store; here
 * the store's refusals become failures with the problem's name, and what a caller said in its own words joins its
 * command again.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { present } from '../src/platform/core/present.ts';
import { Problem } from '../src/platform/core/problem.ts';
import type { GuardedFetch } from '../src/platform/egress/egress.ts';
import { slotWait, type SlotWait } from '../src/platform/temporal/activity-slots.ts';
import { ActionError } from '../src/resources/actions/builtin/action.ts';
import { effectOfAction as effectOf, findAction } from '../src/resources/actions/builtin/index.ts';
import { runAction } from '../src/resources/actions/builtin/run-action.ts';
import {
  type Actor,
  type Cascade,
  type PhaseChange,
  type PhaseRef,
  type PlanDecision,
  type ProjectStatus,
  type Seen,
} from '../src/resources/projects/model.ts';
import type { GateCommand } from '../workflows/project/messages.ts';
import type { WaitsForSlots } from '../src/resources/receivers/model.ts';
import type { GateOutcome } from '../src/resources/projects/decisions/model.ts';
import type { PassMomentArgs } from '../src/resources/projects/decisions/gate-moments.ts';
import type { GateKind } from '../src/resources/templates/model.ts';
import type { AttemptRequest, ProjectEngine, Settlement } from '../src/resources/projects/engine/index.ts';
import { untilRecorded } from './database-away.ts';
import { heartbeating } from './failures.ts';

export interface ProjectDependencies {
  projects: ProjectEngine;
  fetch: GuardedFetch;
  startDeliveries: (ids: readonly string[]) => Promise<void>;
  /** Starts deliveries of artifacts to output destinations. */
  startOutputs: (ids: readonly string[]) => Promise<void>;
}

/** Failures of this type have a message that may be told. */
export const ACTION_FAILED = 'action_failed';

interface CommandRef {
  projectId: string;
  actor: Actor;
  commandId: string;
  /** An answer given in the inbox carries what was seen when it was given. */
  seen?: Seen;
}

export const createProjectActivities = ({ projects, fetch, startDeliveries, startOutputs }: ProjectDependencies) => {
  const textsOf = (command: CommandRef) => projects.readCommandTexts(command);

  const activities = {
    startProject: projects.startProject,
    loadBoard: async ({ projectId }: { projectId: string }) => (await projects.loadBoard(projectId))?.phases ?? [],
    pauseProject: projects.pauseProject,
    pauseIdle: projects.pauseIdle,
    nextStep: projects.nextStep,

    resumeProject: (
      command: CommandRef & {
        inFlightTaskIds: string[];
        retryFailed?: boolean;
        raiseByUsd?: string;
        mayRaiseCaps?: boolean;
      },
    ) => projects.resumeProject({ ...command, effectOf }),

    async abandonProject(command: CommandRef) {
      const { changes } = await projects.abandonProject(command);
      return { changes, waiters: await projects.listWaiters(command.projectId) };
    },

    async completeProject({ projectId }: { projectId: string }) {
      const { deliveries, outputs, completed, status, waiters } = await projects.completeProject({ projectId });
      if (deliveries.length > 0) await startDeliveries(deliveries);
      if (outputs.length > 0) await startOutputs(outputs);
      return { completed, status, waiters };
    },

    async retrySubtask(command: CommandRef & { subtaskId: string }) {
      const { addendum = null } = await textsOf(command);
      const { change, inFlight, phaseSlug } = await projects.retrySubtask({ ...command, addendum });
      return { change, inFlight, phaseSlug };
    },

    async retriggerPhase(command: CommandRef & { phaseSlug: string; cascade: Cascade }) {
      const { addendum = null } = await textsOf(command);
      return projects.retriggerPhase({ ...command, addendum });
    },

    async revertArtifact(command: CommandRef & { phaseSlug: string; targetVersion: number; cascade: Cascade }) {
      const { reason = null } = await textsOf(command);
      return projects.revertArtifact({ ...command, reason });
    },

    async startEditSession(command: CommandRef & { cascade: Cascade }) {
      const { instruction = '' } = await textsOf(command);
      return projects.startEditSession({ ...command, instruction });
    },

    async resolveGate({
      isLenient,
      ...gate
    }: {
      projectId: string;
      answer: GateCommand;
      actor: Actor;
      gateKind: GateKind | null;
      commandId?: string;
      seen?: Seen;
      /** A signal cannot be answered with a refusal, so what cannot be done is left undone. */
      isLenient: boolean;
    }): Promise<GateReply> {
      const { commandId = null } = gate;
      return replyOf(await projects.resolveGate({ ...gate, commandId, lenient: isLenient }));
    },

    /** A moment that comes to a gate with time. */
    async passGateMoment(moment: PassMomentArgs): Promise<GateReply> {
      return replyOf(await projects.passGateMoment(moment));
    },

    async resolveEditPlan(
      command: CommandRef & { taskId: string; decision: PlanDecision; decidedBy: string },
    ): Promise<GateReply> {
      const { comment = null, revisedPlan = null } = await textsOf(command);
      return replyOf(await projects.resolveEditPlan({ ...command, comment, revisedPlan }));
    },

    async recoverPhase(ref: PhaseRef) {
      return projects.recoverPhase({ ...ref, effectOf });
    },

    openPhase: ({ granted, key, ...ref }: PhaseRef & { granted: string | null; key: string }) =>
      projects.openAndBegin(ref, { granted, key }, effectOf),
    beginAttempt: (request: AttemptRequest) => projects.beginAttempt(request, effectOf),
    settleAttempt: ({ attemptId, fault, next, isLast, ...ref }: PhaseRef & Settlement) =>
      projects.settleAndGoOn(ref, { attemptId, fault, next, isLast }, effectOf),
    readPhase: projects.readPhase,
    closePhase: projects.closePhase,

    async enactPlan({
      attemptId,
      ...ref
    }: PhaseRef & { subtaskId: string; attemptId: string }): Promise<PhaseChange[]> {
      const { output, changes } = await projects.enactPlan(ref);
      await projects.saveActionOutput(attemptId, output);
      return changes;
    },
  };

  return {
    ...refusing(activities),

    /** Does the work of an action step; its one result is recorded under the attempt. */
    async runAction({
      subtaskId,
      attemptId,
      mayWait,
      ...ref
    }: PhaseRef & { subtaskId: string; attemptId: string } & WaitsForSlots): Promise<SlotWait | void> {
      const slot = mayWait ? slotWait(Context.current().info.attempt) : undefined;
      if (slot) return slot;
      const work = await projects.loadActionContext({ ...ref, subtaskId, attemptId });
      if (!work?.isOpen) return;
      const { step, title } = work;
      const action = findAction(present(step.assignee));
      if (!action) throw refusal(`there is no action "${step.assignee}" any more`);
      try {
        const output = await heartbeating((signal) =>
          runAction(action, {
            project: { id: ref.projectId, title, brief: step.brief, params: step.params ?? {} },
            inputs: Object.fromEntries(step.inputs.map(({ stepSlug, output }) => [stepSlug, output])),
            artifacts: Object.fromEntries(step.artifacts.map(({ phaseSlug, content }) => [phaseSlug, content])),
            instructions: step.instructions,
            signal,
            fetch,
          }),
        );
        await untilRecorded(() => projects.saveActionOutput(attemptId, output));
      } catch (error) {
        throw error instanceof ActionError ? refusal(error.message) : error;
      }
    },
  };
};

const refusal = (message: string) => ApplicationFailure.nonRetryable(message.slice(0, 1_000), ACTION_FAILED);

/** What the workflow is told of an outcome. */
interface GateReply {
  /** It is null for a signal that nothing waited for, and for a vote that did not decide yet. */
  resolved: GateOutcome<'resolved'> | null;
  projectStatus?: ProjectStatus;
  /** The session was given up before its plan was enacted, in whatever state it was. */
  discarded?: GateOutcome<'discarded'>;
}
const replyOf = (outcome: GateOutcome): GateReply => ({
  resolved: outcome.outcome === 'resolved' ? outcome : null,
  ...(outcome.outcome === 'voted' && { projectStatus: outcome.projectStatus }),
  ...(outcome.outcome === 'discarded' && { discarded: outcome }),
});

type Recording = Record<string, (args: never) => Promise<unknown>>;

/** Turns refusals into failures that are not tried again, because a refusal is an answer. */
const refusing = <T extends Recording>(activities: T): T =>
  Object.fromEntries(
    Object.entries(activities).map(([name, record]) => [
      name,
      (args: never) =>
        record(args).catch((error: unknown) => {
          if (!(error instanceof Problem)) throw error;
          // The failure is benign: somebody was told no, which deserves no warning in the worker's log.
          const { message, code: type, detail } = error;
          throw ApplicationFailure.create({
            message,
            type,
            ...(typeof detail === 'object' && { details: [detail] }),
            nonRetryable: true,
            category: ApplicationFailureCategory.BENIGN,
          });
        }),
    ]),
  ) as T;
