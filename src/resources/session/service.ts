/** Answers what the console asks first: who is signed in, and what this person may do. */
import type { Config } from '../../platform/core/config.ts';
import { can, rightsOf } from '../../platform/core/rights.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import { configuredProviders, deploymentCredentials } from '../../platform/models/catalogue.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import type { ModelCredentials } from '../../platform/models/types.ts';

export type SessionService = ReturnType<typeof createSessionService>;

interface SessionDependencies {
  config: Config;
  temporal: Pick<Temporal, 'namespace'>;
  /** @returns the credentials that the workspace itself gave */
  modelCredentials: (customerId: string) => Promise<ModelCredentials>;
}

export function createSessionService({ config, temporal, modelCredentials }: SessionDependencies) {
  const deploymentHasModels = configuredProviders(deploymentCredentials(config)).length > 0;

  return {
    async get(caller: Caller) {
      const { actor, workspaceId, customerId, isArchived = false } = caller;
      const hasModels = deploymentHasModels || configuredProviders(await modelCredentials(customerId)).length > 0;
      const { TEMPORAL_UI_URL: uiUrl } = config;
      return {
        actor,
        workspace_id: workspaceId,
        customer_id: customerId,
        is_archived: isArchived,
        rights: rightsOf(caller),
        models: { is_offline: !hasModels },
        mail: { is_logged: config.SMTP_URL === undefined },
        temporal: uiUrl && can(caller, 'deployment.inspect') ? { ui_url: uiUrl, namespace: temporal.namespace } : null,
      };
    },
  };
}
