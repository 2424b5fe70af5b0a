/** Repeats what was accepted but never started. Each start is idempotent, so an eager look costs nothing but itself. */
import type { Log } from '../src/platform/core/log.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import { heartbeating } from './failures.ts';
import { reconcile, type Reconciled } from './scheduled-jobs.ts';

export interface HousekeepingDependencies {
  runs: RunStore;
  startRun: (run: { id: string; workspaceId: string; customerId: string; agent: string | null }) => Promise<void>;
  listUnstartedProjects: (olderThanMs: number, limit: number) => Promise<{ id: string }[]>;
  startProject: (project: { id: string }) => Promise<void>;
  /** Starts recorded webhook deliveries that nobody started. */
  startPendingDeliveries: () => Promise<void>;
  /** Rows that Temporal's schedules follow. */
  followedRows: readonly Reconciled[];
  /** Tells runs that wait for a person what a signal should have told them. */
  tellSubmissions: () => Promise<void>;
  /** Of the OTP gate. */
  deleteExpiredChallenges: (limit: number) => Promise<unknown>;
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
  startPendingDeliveries,
  followedRows,
  tellSubmissions,
  deleteExpiredChallenges,
  log,
}: HousekeepingDependencies) => ({
  keepHouse: (): Promise<void> =>
    heartbeating(async () => {
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
      await startPendingDeliveries();
      for (const rows of followedRows) {
        const { applied, removed } = await reconcile(rows);
        if (applied + removed > 0) log.warn({ applied, removed }, 'schedules had drifted from their rows');
      }
      await tellSubmissions();
      await runs.releaseForgotten();
      await deleteExpiredChallenges(BATCH);
      if (overdue.length + projects.length > 0) {
        log.info({ runs: overdue.length, projects: projects.length }, 'repeated the start of what was accepted');
      }
    }),
});
