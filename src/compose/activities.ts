/** Makes the activities of each domain; only workers have them. */
import { createActivities, type Activities } from '../../activities/index.ts';
import type { AfterRun } from '../resources/runs/store/turns.ts';
import { tidyWorkflowList } from '../housekeeper.ts';
import type { Runtime } from '../runtime.ts';
import { actionsWithPageKeys, webhooksWithPageKeys } from './page-keys.ts';
import type { Services } from './services.ts';

export function composeActivities({ config, log, temporal }: Runtime, services: Services): Activities {
  const { stores, engine, egress, files, pageKeys, places, runs, webhooks, destinations } = services;
  const { startRecorded: startDeliveries } = webhooks;
  const startFollowing = async ({ deliveries, nextRunId }: AfterRun): Promise<void> => {
    if (deliveries.length > 0) await startDeliveries(deliveries);
    if (nextRunId) await runs.giveGoAhead(nextRunId);
  };
  return createActivities({
    turns: {
      runs: stores.runs,
      agents: stores.agents,
      tools: services.tools,
      models: services.models,
      modelCredentials: services.modelCredentials,
      tariffOf: services.tariffOf,
      loadBeginning: services.loadBeginning,
      findRecordedReply: services.samples.findReply,
      loadPictures: services.loadPictures,
      noteTurn: engine.noteTurn,
      settings: config,
      startFollowing,
      wakeRun: runs.wake,
      scribe: services.scribe,
      log,
    },
    tools: {
      runs: stores.runs,
      tools: services.tools,
      credential: services.integrationCredential,
      pages: stores.miniapps,
      fetch: egress.fetch,
      files,
    },
    runs: { runs: stores.runs, agents: stores.agents, startFollowing },
    projects: {
      projects: actionsWithPageKeys(engine, pageKeys),
      fetch: egress.fetch,
      startDeliveries,
      startOutputs: destinations.startRecorded,
    },
    scheduledJobs: {
      runs: stores.runs,
      jobs: stores.jobs,
      heartbeats: stores.heartbeats,
      builtin: services.builtinJobs,
      log,
    },
    webhooks: {
      store: webhooksWithPageKeys(stores.webhooks, pageKeys),
      secretBox: services.secretBox,
      fetch: egress.fetch,
      places,
      timeoutMs: config.WEBHOOK_TIMEOUT,
      log,
    },
    outputs: { ...services.outputs, places, log },
    housekeeping: {
      meters: services.meters,
      log,
      tidy: (runId) => tidyWorkflowList({ config, temporal, log }, runId),
      chores: {
        startRuns: runs.startLost,
        startProjects: services.projects.startLost,
        startWebhooks: webhooks.startDue,
        startOutputs: destinations.startDue,
        startWorkspaces: oneAfterAnother(services.workspaces.startLost, services.exports.startLost),
        settleRuns: services.settleRuns(startFollowing),
        settleProjects: services.settleProjects,
        settleWorkspaces: oneAfterAnother(
          services.workspaces.settleLost,
          services.sweepDiscarded,
          services.exports.removeExpired,
        ),
        followRows: services.followRows,
        tellSubmissions: services.miniapps.tellUntold,
        tellRouter: services.billing.tellRouter,
        tellPauses: services.tellPauses,
        foldTallies: services.foldTallies,
        releaseForgotten: stores.runs.releaseForgotten,
        sweepTexts: services.texts.sweep,
      },
    },
    integrations: { checkCredentials: services.checkCredentials },
    workspaces: { ...services.teardown, store: stores.workspaces, files, log },
    exports: { ...services.packing, files, log },
    retention: { enforceRetention: services.retention.sweep },
    metering: { metering: services.metering, settings: config },
  });
}

/** What is of one domain is one chore: one more would change what an execution of housekeeping does that is under way. */
const oneAfterAnother =
  (...works: ((signal: AbortSignal) => Promise<unknown>)[]) =>
  async (signal: AbortSignal): Promise<void> => {
    for (const work of works) await work(signal);
  };
