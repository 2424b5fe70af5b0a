/** The one list of resources: every contract, every route. An endpoint that is not here does not exist. */
import type { Endpoint, Route } from '../platform/http/endpoint.ts';
import type { Services } from '../compose/services.ts';
import { agentRoutes } from './agents/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { attachmentRoutes } from './attachments/routes.ts';
import { auditRoutes } from './audit-log/routes.ts';
import { billingRoutes } from './billing/routes.ts';
import { costRoutes } from './cost/routes.ts';
import { crmRoutes } from './crm-admin/routes.ts';
import { customerRoutes } from './customers/routes.ts';
import { chatRoutes } from './chat/routes.ts';
import { deployTokenRoutes } from './deploy-tokens/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { exportRoutes } from './exports/routes.ts';
import { flagRoutes } from './feature-flags/routes.ts';
import { heartbeatRoutes } from './heartbeats/routes.ts';
import { inboxRoutes } from './inbox/routes.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { liveRoutes } from './live/routes.ts';
import { alsoAsStreams } from './live/streams.ts';
import { manifestRoutes } from './manifests/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { memoryRoutes } from './memory/routes.ts';
import { destinationRoutes } from './output-destinations/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { runArtifactRoutes } from './run-artifacts/routes.ts';
import { runRoutes } from './runs/routes.ts';
import { jobRoutes } from './scheduled-jobs/routes.ts';
import { sampleRoutes } from './samples/routes.ts';
import { searchRoutes } from './search/routes.ts';
import { sessionRoutes } from './session/routes.ts';
import { skillRoutes } from './skills/routes.ts';
import { systemRoutes } from './system/routes.ts';
import { templateRoutes } from './templates/routes.ts';
import { toolRoutes } from './tools/routes.ts';
import { webhookGateRoutes } from './webhook-gates/routes.ts';
import { webhookRoutes } from './webhook-subscriptions/routes.ts';
import { workspaceRoutes } from './workspaces/routes.ts';

const declaredRoutes = (services: Services): readonly Route[] => [
  ...sessionRoutes(services),
  ...workspaceRoutes(services),
  ...exportRoutes(services),
  ...apiKeyRoutes(services),
  ...deployTokenRoutes(services),
  ...billingRoutes(services),
  ...agentRoutes(services),
  ...runRoutes(services),
  ...templateRoutes(services),
  ...attachmentRoutes(services),
  ...sampleRoutes(services),
  ...projectRoutes(services),
  ...inboxRoutes(services),
  ...eventRoutes(services),
  ...liveRoutes(services),
  ...runArtifactRoutes(services),
  ...searchRoutes(services),
  ...costRoutes(services),
  ...flagRoutes(services),
  ...customerRoutes(services),
  ...crmRoutes(services),
  ...systemRoutes(services),
  ...auditRoutes(services),
  ...integrationRoutes(services),
  ...memberRoutes(services),
  ...memoryRoutes(services),
  ...skillRoutes(services),
  ...toolRoutes(services),
  ...webhookGateRoutes(services),
  ...webhookRoutes(services),
  ...destinationRoutes(services),
  ...chatRoutes(services),
  ...jobRoutes(services),
  ...heartbeatRoutes(services),
  ...manifestRoutes(services),
];

/** The routes include the streams that an extension adds to them. */
export const allRoutes = (services: Services): readonly Route[] => alsoAsStreams(services, declaredRoutes(services));

export const routesOf = (surface: Endpoint['surface'], routes: readonly Route[]): Route[] =>
  routes.filter(({ endpoint }) => endpoint.surface === surface);
