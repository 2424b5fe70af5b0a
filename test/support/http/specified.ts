/**
 * What the service was specified to answer on the control plane, by address, with who may ask: written down apart from
 * the declarations, so that one that is dropped, moved or opened wider is noticed. The public nine are in `endpoints.ts`.
 */
import type { Credential } from '../../../src/platform/http/endpoint.ts';

const of = (credential: Credential, addresses: string): [string, Credential][] =>
  addresses
    .trim()
    .split('\n')
    .map((line) => [line.trim(), credential]);

export const SPECIFIED: ReadonlyMap<string, Credential> = new Map([
  ...of(
    'session',
    `GET /v1/api-keys
    POST /v1/api-keys
    DELETE /v1/api-keys/{}
    POST /v1/workspaces/{}/retry
    POST /v1/runs
    GET /v1/runs
    GET /v1/runs/{}/events
    GET /v1/runs/{}/detail
    POST /v1/runs/{}/cancel
    POST /v1/runs/{}/retry
    GET /v1/runs/stats/today
    GET /v1/runs/costs
    GET /v1/runs/{}/context
    GET /v1/runs/{}/context/content
    GET /v1/agents
    GET /v1/agents/{}/detail
    POST /v1/agents
    PATCH /v1/agents/{}
    PATCH /v1/agents/{}/model
    PATCH /v1/agents/{}/voice
    DELETE /v1/agents/{}
    GET /v1/agents/{}/avatar
    PUT /v1/agents/{}/avatar
    DELETE /v1/agents/{}/avatar
    POST /v1/projects
    PATCH /v1/projects/{}
    GET /v1/projects
    GET /v1/projects/{}
    GET /v1/projects/{}/tasks
    GET /v1/projects/{}/tasks/{}
    GET /v1/projects/{}/tasks/{}/subtasks
    GET /v1/projects/{}/tasks/{}/subtasks/{}
    GET /v1/projects/{}/subtasks/{}/attempts
    GET /v1/projects/{}/events
    GET /v1/projects/{}/subtasks/{}/events
    GET /v1/projects/{}/artifacts
    GET /v1/projects/{}/attachments
    POST /v1/projects/{}/attachments
    GET /v1/projects/{}/cost
    POST /v1/projects/{}/pause
    POST /v1/projects/{}/resume
    POST /v1/projects/{}/abandon
    POST /v1/projects/{}/run-step
    POST /v1/projects/{}/subtasks/{}/retry
    POST /v1/projects/{}/subtasks/{}/resolve-gate
    POST /v1/projects/{}/phases/{}/retrigger
    POST /v1/projects/{}/phases/{}/revert-artifact
    POST /v1/projects/{}/edit-sessions
    POST /v1/projects/{}/edit-sessions/{}/approve
    GET /v1/workflows
    GET /v1/workflows/{}
    GET /v1/workflows/{}/versions
    POST /v1/workflows
    PATCH /v1/workflows/{}
    DELETE /v1/workflows/{}
    GET /v1/templates
    GET /v1/templates/{}
    GET /v1/templates/{}/versions
    POST /v1/templates
    PATCH /v1/templates/{}
    DELETE /v1/templates/{}
    GET /v1/memory/stats
    GET /v1/memory/entries
    GET /v1/memory/entries/{}
    POST /v1/memory/entries
    PATCH /v1/memory/entries/{}
    DELETE /v1/memory/entries/{}
    POST /v1/memory/entries/bulk-delete
    POST /v1/memory/entries/{}/verify
    POST /v1/memory/entries/{}/supersede
    GET /v1/memory/entries/{}/links
    GET /v1/memory/graph
    GET /v1/integrations
    GET /v1/integrations/{}
    PUT /v1/integrations/{}/credentials/{}
    DELETE /v1/integrations/{}/credentials/{}
    PUT /v1/integrations/{}/secrets/{}
    DELETE /v1/integrations/{}/secrets/{}
    GET /v1/tools
    GET /v1/tools/{}
    POST /v1/tools
    PATCH /v1/tools/{}
    DELETE /v1/tools/{}
    GET /v1/skills
    GET /v1/skills/{}
    POST /v1/skills
    PATCH /v1/skills/{}
    DELETE /v1/skills/{}
    GET /v1/scheduled-jobs
    POST /v1/scheduled-jobs
    PATCH /v1/scheduled-jobs/{}
    DELETE /v1/scheduled-jobs/{}
    GET /v1/scheduled-jobs/{}/attachments
    POST /v1/scheduled-jobs/{}/attachments
    GET /v1/heartbeats
    POST /v1/heartbeats
    GET /v1/heartbeats/{}
    PATCH /v1/heartbeats/{}
    DELETE /v1/heartbeats/{}
    GET /v1/events
    GET /v1/webhooks
    GET /v1/webhook-deliveries
    POST /v1/webhook-deliveries/{}/redeliver
    POST /v1/webhook-deliveries/endpoints/{}/rotate-secret
    GET /v1/run-artifacts
    GET /v1/run-artifacts/{}
    GET /v1/cost/rollup
    GET /v1/feature-flags
    GET /v1/files/download
    GET /v1/output-destinations
    POST /v1/output-destinations
    GET /v1/output-destinations/{}
    PATCH /v1/output-destinations/{}
    DELETE /v1/output-destinations/{}
    GET /v1/system/health
    GET /v1/system/info
    GET /v1/chat/threads/{}/attachments
    POST /v1/chat/threads/{}/attachments
    GET /v1/chat/call/turn`,
  ),
  ...of(
    'identity',
    `GET /v1/workspaces
    GET /v1/workspaces/{}
    POST /v1/workspaces
    DELETE /v1/workspaces/{}
    GET /v1/billing/catalog
    GET /v1/billing/summary
    POST /v1/billing/subscribe
    GET /v1/billing/wallet
    GET /v1/billing/topup/options
    POST /v1/billing/topup
    GET /v1/billing/addons
    POST /v1/billing/addons/model-router
    GET /v1/chat/threads
    POST /v1/chat/threads
    GET /v1/chat/threads/{}
    PATCH /v1/chat/threads/{}
    DELETE /v1/chat/threads/{}
    GET /v1/chat/threads/{}/messages
    POST /v1/chat/threads/{}/messages`,
  ),
  ...of(
    'admin',
    `GET /v1/customers
    GET /v1/crm-admin/customers
    GET /v1/crm-admin/customers/{}
    PATCH /v1/crm-admin/customers/{}
    GET /v1/crm-admin/customers/{}/notes
    POST /v1/crm-admin/customers/{}/notes
    DELETE /v1/crm-admin/customers/{}/notes/{}`,
  ),
  ...of(
    'internal',
    `PUT /v1/feature-flags/{}
    DELETE /v1/feature-flags/{}
    POST /v1/system/reload`,
  ),
  ...of('operator', 'PATCH /v1/workspaces/{}/state'),
  ...of('provider', 'POST /v1/billing/webhooks'),
]);

/** Paths that the specification rules out, though others like them are there. */
export const ABSENT: readonly string[] = [
  'GET /v1/runs/{}',
  'GET /v1/runs/{}/status',
  'GET /v1/agents/{}',
  'POST /v1/agents/{}/invoke',
  'POST /v1/agents/{}/cancel/{}',
  'POST /v1/webhooks',
  'DELETE /v1/webhooks/{}',
];
