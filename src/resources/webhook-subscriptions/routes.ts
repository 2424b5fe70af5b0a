/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { createWebhook, deleteWebhook, listDeliveries, listWebhooks, redeliver, rotateSecret } from './contract.ts';
import type { WebhookService } from './service.ts';

export const webhookRoutes = ({ webhooks }: { webhooks: WebhookService }): readonly Route[] => [
  handle(createWebhook, ({ caller, body }) => webhooks.create(caller, body)),
  handle(listWebhooks, ({ caller }) => webhooks.list(caller)),
  handle(deleteWebhook, ({ caller, params }) => webhooks.remove(caller, params.id)),
  handle(listDeliveries, ({ caller, query }) => webhooks.listDeliveries(caller, query)),
  handle(redeliver, ({ caller, params }) => webhooks.redeliver(caller, params.id)),
  handle(rotateSecret, ({ caller, params }) => webhooks.rotateSecret(caller, params.id)),
];
