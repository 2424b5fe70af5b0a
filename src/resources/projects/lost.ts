/**
 * Finds projects that Temporal lost, because it was restored or replaced or because somebody ended a workflow by hand.
 * A project whose workflow is merely missing goes on from its rows, one whose workflow was ended is paused, and a phase
 * whose workflow was ended is recovered.
 */
import type { Log } from '../../platform/core/log.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { createRounds } from '../../platform/temporal/rounds.ts';
import { workflowState } from '../../platform/temporal/workflow-state.ts';
import { phaseLostSignal, recheckSignal } from '../../../workflows/project/messages.ts';
import { phaseWorkflowId, projectWorkflowId } from './model.ts';
import type { ProjectStarter } from './start.ts';
import type { ProjectStore } from './store/index.ts';
import type { CheckedProject } from './store/lost.ts';

export interface LostProjectsDependencies {
  temporal: Temporal;
  store: ProjectStore;
  startAgain: ProjectStarter['startAgain'];
  log: Log;
}

/**
 * This is a chore of housekeeping.
 * @param olderThanMs says for how long a project is believed to be under way before Temporal is asked about it, and
 * then asked again
 */
export function createLostProjects(deps: LostProjectsDependencies, olderThanMs: number) {
  const { temporal, store, startAgain, log } = deps;

  async function settle({ id, phases, isStanding, isAbandoned }: CheckedProject): Promise<void> {
    const found = await workflowState(temporal, projectWorkflowId(id));
    if (isAbandoned) return end(id, phases, found === 'running');
    if (found === 'running') {
      await settlePhases(id, phases);
      if (isStanding) await wake(id);
      return;
    }
    log.warn({ project_id: id, found }, 'the workflow of a project is not running although its record says so');
    if (found === 'absent') return void (await startAgain(id));
    await store.pauseEnded(id, found);
  }

  /** Ends what still works on a project that was abandoned: its workflow was killed before it could tell anybody. */
  async function end(id: string, phases: CheckedProject['phases'], isRunning: boolean): Promise<void> {
    const left: string[] = isRunning ? [projectWorkflowId(id)] : [];
    for (const { slug, iteration } of phases) {
      const workflowId = phaseWorkflowId(id, slug, iteration);
      if ((await workflowState(temporal, workflowId)) === 'running') left.push(workflowId);
    }
    if (left.length === 0) return;
    log.warn({ project_id: id, workflows: left }, 'workflows of an abandoned project are running, and are ended');
    await store.askAgain(id);
    if (isRunning) await temporal.client.workflow.getHandle(projectWorkflowId(id)).signal(recheckSignal);
    else for (const workflowId of left) await temporal.client.workflow.getHandle(workflowId).cancel();
  }

  /**
   * An active project is at work, waits for somebody, or is about to end. One that does none of these, or that leaves
   * undone what could begin, no longer agrees with its record.
   */
  async function wake(id: string): Promise<void> {
    log.warn({ project_id: id }, 'an active project stands still; its workflow is told to read its record again');
    await temporal.client.workflow.getHandle(projectWorkflowId(id)).signal(recheckSignal);
  }

  /**
   * A phase reports its end to its project. One that was ended by hand after the project continued as new does not, so
   * its end is settled here.
   */
  async function settlePhases(id: string, phases: CheckedProject['phases']): Promise<void> {
    for (const phase of phases) {
      const found = await workflowState(temporal, phaseWorkflowId(id, phase.slug, phase.iteration));
      if (found === 'running') continue;
      log.warn(
        { project_id: id, phase: phase.slug, found },
        'the workflow of a phase is not running although its record says so',
      );
      await temporal.client.workflow.getHandle(projectWorkflowId(id)).signal(phaseLostSignal, phase);
    }
  }

  return createRounds({
    take: (turn) => store.takeUnchecked(turn, olderThanMs),
    load: store.loadChecked,
    handle: settle,
    failed: (err, { id }) => log.error({ err, project_id: id }, 'a lost project could not be settled'),
  });
}
