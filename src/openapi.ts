/** Makes the OpenAPI documents of both surfaces from the routes that are served. */
import type { Config } from './platform/core/config.ts';
import type { Route } from './platform/http/endpoint.ts';
import { openApiDocument } from './platform/http/openapi.ts';
import { routesOf } from './resources/index.ts';
import { OUTPUT_WEBHOOKS } from './resources/output-destinations/events/contract.ts';
import { WEBHOOKS } from './resources/webhook-subscriptions/events/contract.ts';

const VERSION = '1.0.0';

/** What the endpoints of each resource are about, for readers of the documents. */
const TAGS: Readonly<Record<string, string>> = {
  agents: 'Agents that runs are given to: built-in ones, and those that the workspace made or changed',
  'api-keys': 'Keys of the workspace for the public API',
  attachments: 'Files that people put beside a project',
  'audit-log': 'Who changed the configuration of the workspace',
  billing: 'Plans, credit and invoices',
  chat: 'Conversations with an agent, with their messages and files',
  cost: 'What was spent, what it comes to, and the caps on it',
  'crm-admin': 'Customers and notes about them, for the operator of the deployment',
  customers: 'Names of customers, for the operator of the deployment',
  'deploy-tokens': 'Tokens with which a pipeline deploys manifests, and does nothing else',
  events: 'The feed of everything that happened in projects',
  exports: 'Archives of everything that a workspace has',
  'feature-flags': 'Switches of the deployment, and exceptions for workspaces',
  files: 'The bytes of files, by their id',
  heartbeats: 'Checks that wake an agent at intervals',
  inbox: 'What waits for an answer of a person, and the answers',
  integrations: 'Credentials for other services, and whether they work',
  live: 'One stream of all events of the workspace',
  manifests: 'The configuration of a workspace as files: read, plan, apply',
  members: 'People of a workspace and their roles',
  memory: 'What the agents of a workspace remember',
  'output-destinations': 'Where finished artifacts and notices are sent, and the log of deliveries',
  projects: 'Pipelines of phases, steps and gates, with their artifacts and commands',
  'run-artifacts': 'Files that runs saved',
  runs: 'Single tasks of agents: dispatch, status, timeline, context and cost',
  samples: 'Recorded samples that need no model',
  'scheduled-jobs': 'Runs that begin by the clock',
  search: 'Words and ids in everything that a workspace has',
  session: 'The session of the caller',
  skills: 'Instructions that agents load when they need them',
  system: 'Health and configuration of the service',
  templates: 'Workflows that projects are started from, by version',
  'templates-alias': 'The endpoints of workflows under their earlier address',
  tools: 'Tools that agents may call',
  'webhook-deliveries': 'The log of webhook deliveries, and the endpoints that they go to',
  'webhook-gates': 'Gates that wait for another system',
  webhooks: 'Addresses that are told how runs and projects ended',
  workspaces: 'Workspaces and their state',
};

export function documents(
  routes: readonly Route[],
  { BASE_URL, PORT, EXTENSIONS }: Pick<Config, 'BASE_URL' | 'PORT' | 'EXTENSIONS'>,
) {
  const base = BASE_URL ?? `http://localhost:${PORT}`;
  const endpoints = (surface: 'public' | 'control-plane') =>
    routesOf(surface, routes).map(({ endpoint: { idempotent, ...endpoint } }) =>
      idempotent && EXTENSIONS.has('idempotency') ? { ...endpoint, idempotent } : endpoint,
    );
  return {
    public: () =>
      openApiDocument({
        title: 'Agent Orchestration Service: public API',
        description: 'Runs AI agents. Progress is read by polling; how a run ended also arrives as a signed webhook.',
        version: VERSION,
        tags: TAGS,
        servers: [{ url: base }],
        surface: 'public',
        endpoints: endpoints('public'),
        webhooks: Object.values(WEBHOOKS),
      }),
    controlPlane: () =>
      openApiDocument({
        title: 'Agent Orchestration Service: control plane',
        description: 'Everything a signed-in user can do, through the browser proxy.',
        version: VERSION,
        tags: TAGS,
        servers: [{ url: `${base}/api/v1/cp` }],
        surface: 'control-plane',
        endpoints: endpoints('control-plane'),
        webhooks: Object.values(OUTPUT_WEBHOOKS),
      }),
  };
}
