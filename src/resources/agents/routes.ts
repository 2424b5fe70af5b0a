/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { AgentService } from './service.ts';

export const agentRoutes = ({ agents }: { agents: AgentService }): readonly Route[] => [
  handle(contract.listInvokableAgents, ({ caller }) => agents.listInvokable(caller.customerId)),
  handle(contract.listAgents, ({ caller }) => agents.list(caller.customerId)),
  handle(contract.getAgentDetail, ({ caller, params }) => agents.detail(caller.customerId, params.slug)),
  handle(contract.createAgent, ({ caller, body }) => agents.create(caller.customerId, body)),
  handle(contract.updateAgent, ({ caller, params, body }) => agents.update(caller.customerId, params.slug, body)),
  handle(contract.setAgentModel, ({ caller, params, body }) => agents.setModel(caller.customerId, params.slug, body)),
  handle(contract.setAgentVoice, ({ caller, params, body }) => agents.setVoice(caller.customerId, params.slug, body)),
  handle(contract.deleteAgent, ({ caller, params, query }) =>
    agents.delete(caller.customerId, params.slug, query.force),
  ),
  handle(contract.getAgentAvatar, ({ caller, params }) => agents.avatar(caller.customerId, params.slug)),
  handle(contract.putAgentAvatar, ({ caller, params, file }) => agents.putAvatar(caller.customerId, params.slug, file)),
  handle(contract.deleteAgentAvatar, ({ caller, params }) => agents.deleteAvatar(caller.customerId, params.slug)),
];
