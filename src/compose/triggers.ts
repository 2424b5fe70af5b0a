/** Makes what begins by the clock: scheduled jobs, what a workspace changed about those that ship, and heartbeats. */
import { createHeartbeatService, followedHeartbeats, triggersOfHeartbeats } from '../resources/heartbeats/service.ts';
import { createHeartbeatStore } from '../resources/heartbeats/store.ts';
import { createFacts } from '../resources/scheduled-jobs/builtin/facts.ts';
import { createFollowing } from '../resources/scheduled-jobs/following.ts';
import { createOverrideStore } from '../resources/scheduled-jobs/overrides.ts';
import { createBuiltinRunner } from '../resources/scheduled-jobs/runner.ts';
import { createJobService } from '../resources/scheduled-jobs/service.ts';
import { createJobStore } from '../resources/scheduled-jobs/store.ts';
import { followedJobs, triggersOfJobs, triggersOfOverrides } from '../resources/scheduled-jobs/triggers.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Knowledge } from './knowledge.ts';
import type { Platform } from './platform.ts';
import type { Tools } from './tools.ts';

export type TriggerServices = ReturnType<typeof composeTriggers>;

export function composeTriggers(
  { config, log, db }: Runtime,
  { follow, triggers }: Platform,
  { stores: { workspaces } }: Access,
  { attachments }: Knowledge,
  { references }: Tools,
) {
  const stores = { jobs: createJobStore(db), overrides: createOverrideStore(db), heartbeats: createHeartbeatStore(db) };
  const { jobs, overrides, heartbeats } = stores;
  const triggerOf = {
    job: triggersOfJobs(config),
    override: triggersOfOverrides(config),
    heartbeat: triggersOfHeartbeats(config),
  };
  return {
    stores,
    triggerOf,
    jobs: createJobService({
      attachments,
      workspaces,
      store: jobs,
      triggerOf: triggerOf.job,
      overrides,
      triggerOfOverride: triggerOf.override,
      follow,
      references,
      heartbeatCounts: heartbeats.counts,
    }),
    heartbeats: createHeartbeatService({
      store: heartbeats,
      workspaces,
      triggerOf: triggerOf.heartbeat,
      follow,
      references,
    }),
    builtinJobs: createBuiltinRunner({ overrides, facts: createFacts(db), log }),
    followRows: createFollowing({
      db,
      log,
      triggers,
      intervalMs: config.HOUSEKEEPING_INTERVAL,
      followed: [followedJobs(config, { jobs, overrides }), followedHeartbeats(config, heartbeats)],
    }),
  };
}
