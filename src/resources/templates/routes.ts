/** Binds each contract to a use case, one line apiece; what the control plane has, it has under the old name too. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { TemplateService } from './service.ts';

export function templateRoutes({ templates }: { templates: TemplateService }): readonly Route[] {
  const workflows = [
    handle(contract.listTemplates, ({ caller, query }) => templates.list(caller.customerId, query)),
    handle(contract.getTemplate, ({ caller, params, query }) =>
      templates.get(caller.customerId, params.slug, query.version),
    ),
    handle(contract.listTemplateVersions, ({ caller, params }) => templates.versions(caller.customerId, params.slug)),
    handle(contract.createTemplate, ({ caller, body }) => templates.create(caller.customerId, body)),
    handle(contract.updateTemplate, ({ caller, params, body }) =>
      templates.update(caller.customerId, params.slug, body),
    ),
    handle(contract.deleteTemplate, ({ caller, params }) => templates.delete(caller.customerId, params.slug)),
  ];
  return [
    handle(contract.listStartableTemplates, ({ caller }) => templates.listStartable(caller.customerId)),
    ...workflows,
    ...workflows.map(({ endpoint, handler }) => ({ endpoint: contract.aliasOf(endpoint), handler })),
  ];
}
