/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { WebhookGateService } from './service.ts';

export const webhookGateRoutes = ({ webhookGates }: { webhookGates: WebhookGateService }): readonly Route[] => [
  handle(contract.listWebhookGates, ({ caller, query }) => webhookGates.list(caller, query)),
];
