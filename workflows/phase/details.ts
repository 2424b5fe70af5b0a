/** What an operator reads of a phase in the Temporal Web UI: its steps, and what each of them waits for. */
import { ContinueAsNew, isCancellation } from '@temporalio/workflow';
import { projectWorkflowId, type StepRef } from '../../src/resources/projects/model.ts';
import { isAnswerable } from '../../src/resources/templates/gates/kinds/model.ts';
import { createDetails, readable } from '../shared/details.ts';
import { resolveGateSignal } from '../project/messages.ts';
import type { PhaseInput, PhaseResult } from './messages.ts';
import type { Begun } from './step-work.ts';

type Status = PhaseResult['status'] | 'cancelled' | 'continued';

/** Of such an end the steps are no longer this workflow's to tell. */
const ENDINGS: Partial<Record<Status, string>> = {
  superseded: 'Over: another start of the phase took over, or the project has ended.',
  not_yet: 'Over: a phase before this one is done again first.',
  cancelled: 'Over: cancelled.',
  continued: 'Continued as new.',
};

export function createPhaseDetails({ projectId, slug: phaseSlug }: PhaseInput, renderSteps: () => string) {
  let status: Status = 'running';
  const describe = (): string =>
    ENDINGS[status] ?? (status === 'running' ? renderSteps() : `Ended: **${status}**.\n\n${renderSteps()}`);
  const { show, waitFor, goOn, end } = createDetails(describe);

  const answersTo = ({ subtaskId, slug }: StepRef): string[] => {
    const payload = JSON.stringify({ subtask_id: subtaskId, decision: 'approved', decided_by: 'name' });
    return [
      `\`aos project approve ${projectId} ${phaseSlug}/${slug}\`, or \`reject\``,
      `signal \`${resolveGateSignal.name}\` to \`${projectWorkflowId(projectId)}\`: \`${payload}\``,
    ];
  };

  return {
    show,
    goOn,

    /** @returns what the project's board says of it */
    paused(key: string, { slug }: Pick<StepRef, 'slug'>, reason: string | undefined): string {
      const answers = [`\`aos project resume ${projectId}\``, `\`aos inbox --project ${projectId}\``];
      waitFor(key, { what: `\`${slug}\` waits: the project is paused${reason ? ` (${reason})` : ''}`, answers });
      return `the project to go on${key === phaseSlug ? '' : `: \`${slug}\` is next`}`;
    },

    /** @returns what the project's board says of the gate */
    atGate(step: StepRef, { gateKind, waitMs, note, since }: Begun<'gate'>): string {
      const { subtaskId, slug } = step;
      const isAnswered = isAnswerable(gateKind);
      const until = waitMs === null ? [] : [`until ${readable(new Date(Date.now() + waitMs).toISOString())}`];
      const policy = [...until, ...(note ? [note] : [])].join(', ');
      const what = `\`${slug}\` waits: gate ${gateKind}${policy && ` (${policy})`}`;
      waitFor(subtaskId, { what, since, answers: isAnswered ? answersTo(step) : [] });
      const command = isAnswered ? `: \`aos project approve ${projectId} ${phaseSlug}/${slug}\`` : '';
      return `gate \`${slug}\` (${gateKind}, subtask \`${subtaskId}\`) since ${readable(since)}${command}`;
    },

    atWork({ subtaskId, slug }: StepRef, begun: Begun<'agent'> | Begun<'action'>): void {
      const what = begun.kind === 'agent' ? `run \`${begun.runId}\` of \`${begun.agent}\`` : `\`${begun.action}\``;
      const limit = begun.timeoutMs === null ? '' : `, ${begun.timeoutMs / 1_000} s at most`;
      waitFor(subtaskId, { what: `\`${slug}\` waits for ${what}${limit}` });
    },

    early({ subtaskId, slug }: StepRef): void {
      waitFor(subtaskId, { what: `\`${slug}\` waits for what comes before it` });
    },

    ended(as: PhaseResult['status']): void {
      status = as;
      end();
    },

    broken(error: unknown): void {
      if (isCancellation(error)) status = 'cancelled';
      else status = error instanceof ContinueAsNew ? 'continued' : 'failed';
      end();
    },
  };
}
