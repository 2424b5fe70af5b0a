/** Wires stores and services to a runtime, a domain at a time; API and worker share it. */
import type { Runtime } from '../runtime.ts';
import { composeAccess } from './access.ts';
import { composeBilling } from './billing.ts';
import { composeDeliveries } from './deliveries.ts';
import { composeExports } from './exports.ts';
import { composeInbox } from './inbox.ts';
import { composeIntegrations } from './integrations.ts';
import { composeKnowledge } from './knowledge.ts';
import { composeManifests } from './manifests.ts';
import { composeOperations } from './operations.ts';
import { composePipelines } from './pipelines.ts';
import { composePlatform } from './platform.ts';
import { composeProjects } from './projects.ts';
import { composeRuns } from './runs.ts';
import { composeTools } from './tools.ts';
import { composeTriggers } from './triggers.ts';
import { composeWorkspaces } from './workspaces.ts';

export type Services = ReturnType<typeof createServices>;

export function createServices(runtime: Runtime) {
  const platform = composePlatform(runtime);
  const access = composeAccess(runtime, platform);
  const integrations = composeIntegrations(runtime, platform, access);
  const billing = composeBilling(runtime, platform, integrations);
  const knowledge = composeKnowledge(runtime, platform, access);
  const projects = composeProjects(runtime, platform);
  const tools = composeTools(runtime, platform, access, integrations, knowledge, projects);
  const runs = composeRuns(runtime, platform, access, knowledge, tools);
  const triggers = composeTriggers(runtime, platform, access, knowledge, tools);
  const inbox = composeInbox(runtime, platform, access, projects, tools, runs);
  const deliveries = composeDeliveries(runtime, platform, access, inbox);
  const pipelines = composePipelines(runtime, knowledge, projects, tools);
  const manifests = composeManifests(runtime, platform, {
    access,
    knowledge,
    tools,
    runs,
    pipelines,
    triggers,
    deliveries,
  });
  return {
    ...platform,
    ...access,
    ...integrations,
    ...billing,
    ...knowledge,
    ...projects,
    ...tools,
    ...runs,
    ...deliveries,
    ...inbox,
    ...pipelines,
    ...manifests,
    ...composeExports(runtime, platform, access, manifests),
    ...composeWorkspaces(runtime, platform, access, billing, projects, runs, triggers),
    ...composeOperations(runtime, platform),
    ...triggers,
    stores: {
      ...access.stores,
      ...billing.stores,
      ...knowledge.stores,
      ...projects.stores,
      ...tools.stores,
      ...runs.stores,
      ...pipelines.stores,
      ...deliveries.stores,
      ...triggers.stores,
    },
  };
}
