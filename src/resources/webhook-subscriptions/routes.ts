/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { WebhookService } from './service.ts';

export const webhookRoutes = ({ webhooks }: { webhooks: WebhookService }): readonly Route[] => [
  handle(contract.createWebhook, ({ caller, body }) => webhooks.create(caller, body)),
  handle(contract.listWebhooks, ({ caller }) => webhooks.list(caller)),
  handle(contract.deleteWebhook, ({ caller, params }) => webhooks.remove(caller, params.id)),
  handle(contract.listDeliveries, ({ caller, query }) => webhooks.listDeliveries(caller, query)),
  handle(contract.redeliver, ({ caller, params }) => webhooks.redeliver(caller, params.id)),
  handle(contract.listEndpoints, ({ caller }) => webhooks.listEndpoints(caller)),
  handle(contract.createEndpoint, ({ caller, body }) => webhooks.create(caller, body)),
  handle(contract.deleteEndpoint, ({ caller, params }) => webhooks.remove(caller, params.id)),
  handle(contract.resumeEndpoint, ({ caller, params }) => webhooks.resume(caller, params.id)),
  handle(contract.rotateSecret, ({ caller, params }) => webhooks.rotateSecret(caller, params.id)),
];
