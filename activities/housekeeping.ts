/** Repeats what was accepted but never started. Each start is idempotent, so an eager look costs nothing but itself. */
import { ApplicationFailure } from '@temporalio/common';
import type { Log } from '../src/platform/core/log.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import { heartbeating } from './failures.ts';
import { reconcile, type Reconciled } from './scheduled-jobs.ts';

export interface HousekeepingDependencies {
  runs: RunStore;
  startRun: (run: { id: string; workspaceId: string; customerId: string; agent: string | null }) => Promise<void>;
  listUnstartedProjects: (olderThanMs: number, limit: number) => Promise<{ id: string }[]>;
  startProject: (project: { id: string }) => Promise<void>;
  /** Settles runs and projects that Temporal does not have although they are under way by their rows. */
  settleLost: () => Promise<void>;
  /** Starts recorded webhook deliveries that nobody started. */
  startPendingDeliveries: () => Promise<void>;
  /** Starts provisionings whose start was lost, and settles those that were lost themselves. */
  startUnprovisioned: () => Promise<void>;
  /** Adds up what lists counted since the last time. */
  foldTallies: () => Promise<void>;
  /** Repeats what the model router did not hear. */
  tellRouter: () => Promise<void>;
  /** Rows that Temporal's schedules follow. */
  followedRows: readonly Reconciled[];
  /** Tells runs that wait for a person what a signal should have told them. */
  tellSubmissions: () => Promise<void>;
  log: Log;
}

/** Younger ones are being started right now by whoever accepted them. */
const OVERDUE_MS = 15_000;
const BATCH = 200;

export const createHousekeepingActivities = ({
  runs,
  startRun,
  listUnstartedProjects,
  startProject,
  settleLost,
  startPendingDeliveries,
  startUnprovisioned,
  foldTallies,
  tellRouter,
  followedRows,
  tellSubmissions,
  log,
}: HousekeepingDependencies) => {
  async function startOverdue(): Promise<void> {
    const overdue = await runs.listUnstarted(OVERDUE_MS, BATCH);
    // One run that cannot be started must not keep the others waiting.
    for (const run of overdue) {
      await startRun(run).catch((err: unknown) => log.error({ err, run_id: run.id }, 'a run could not be started'));
    }
    const projects = await listUnstartedProjects(OVERDUE_MS, BATCH);
    for (const project of projects) {
      await startProject(project).catch((err: unknown) =>
        log.error({ err, project_id: project.id }, 'a project could not be started'),
      );
    }
    if (overdue.length + projects.length > 0) {
      log.info({ runs: overdue.length, projects: projects.length }, 'repeated the start of what was accepted');
    }
  }

  async function followRows(): Promise<void> {
    for (const rows of followedRows) {
      const { applied, removed } = await reconcile(rows);
      if (applied + removed > 0) log.warn({ applied, removed }, 'schedules had drifted from their rows');
    }
  }

  const chores = {
    startOverdue,
    settleLost,
    startPendingDeliveries,
    startUnprovisioned,
    followRows,
    tellSubmissions,
    tellRouter,
    foldTallies,
    releaseForgotten: runs.releaseForgotten,
  };

  return {
    /** Each chore is tried, whatever became of those before it. */
    keepHouse: (): Promise<void> =>
      heartbeating(async () => {
        const failed: string[] = [];
        for (const [name, chore] of Object.entries(chores)) {
          await chore().catch((err: unknown) => {
            failed.push(name);
            log.error({ err, chore: name }, 'a chore of housekeeping failed');
          });
        }
        // Red in the Temporal Web UI; the next tick tries again.
        if (failed.length > 0) throw ApplicationFailure.nonRetryable(`failed: ${failed.join(', ')}`, 'chores_failed');
      }),
  };
};
