/** Makes the OpenAPI documents of both surfaces from the routes that are served. */
import type { Config } from './platform/core/config.ts';
import type { Route } from './platform/http/endpoint.ts';
import { openApiDocument } from './platform/http/openapi.ts';
import { routesOf } from './resources/index.ts';
import { OUTPUT_WEBHOOKS } from './resources/output-destinations/events/contract.ts';
import { WEBHOOKS } from './resources/webhook-subscriptions/events/contract.ts';

const VERSION = '1.0.0';

export function documents(routes: readonly Route[], { BASE_URL, PORT }: Pick<Config, 'BASE_URL' | 'PORT'>) {
  const base = BASE_URL ?? `http://localhost:${PORT}`;
  const endpoints = (surface: 'public' | 'control-plane') => routesOf(surface, routes).map(({ endpoint }) => endpoint);
  return {
    public: () =>
      openApiDocument({
        title: 'Agent Orchestration Service: public API',
        description: 'Runs AI agents. Progress is read by polling; how a run ended also arrives as a signed webhook.',
        version: VERSION,
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
        servers: [{ url: `${base}/api/v1/cp` }],
        surface: 'control-plane',
        endpoints: endpoints('control-plane'),
        webhooks: Object.values(OUTPUT_WEBHOOKS),
      }),
  };
}
