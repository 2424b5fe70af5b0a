/**
 * Projects that Temporal lost: it was restored or replaced, or somebody ended a workflow by hand. What is merely not
 * there any more goes on from its rows; a project that was ended is paused, and a phase that was is taken up again.
 */
import type { Log } from '../../platform/core/log.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { whereaboutsOf } from '../../platform/temporal/whereabouts.ts';
import { phaseLostSignal } from '../../../workflows/project/messages.ts';
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

const BATCH = 50;

/** @param olderThanMs how long a project is believed to be under way before it is asked about, and then again */
export async function settleLostProjects(deps: LostProjectsDependencies, olderThanMs: number): Promise<void> {
  const { temporal, store, startAgain, log } = deps;

  async function settle({ id, phases }: CheckedProject): Promise<void> {
    const found = await whereaboutsOf(temporal, projectWorkflowId(id));
    if (found === 'running') return settlePhases(id, phases);
    log.warn({ project_id: id, found }, 'a project was not where its record says');
    if (found === 'absent') return startAgain(id);
    await store.pauseEnded(id, found);
  }

  /** A phase reports to its project, but one that was ended by hand after the project continued as new does not. */
  async function settlePhases(id: string, phases: CheckedProject['phases']): Promise<void> {
    for (const phase of phases) {
      const found = await whereaboutsOf(temporal, phaseWorkflowId(id, phase.slug, phase.iteration));
      if (found === 'running') continue;
      log.warn({ project_id: id, phase: phase.slug, found }, 'a phase was not where its record says');
      await temporal.client.workflow.getHandle(projectWorkflowId(id)).signal(phaseLostSignal, phase);
    }
  }

  for (const project of await store.claimUnchecked(olderThanMs, BATCH)) {
    await settle(project).catch((err: unknown) =>
      log.error({ err, project_id: project.id }, 'a lost project could not be settled'),
    );
  }
}
