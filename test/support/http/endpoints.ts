/**
 * Every declared endpoint, to generate tests and documents of. A route only closes over the services it is bound to,
 * so what is declared can be read without any of them, also before a test has begun.
 */
import { present } from '../../../src/platform/core/present.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import { allRoutes } from '../../../src/resources/index.ts';
import type { Services } from '../../../src/compose/services.ts';

export const endpoints: readonly Endpoint[] = allRoutes({} as Services).map(({ endpoint }) => endpoint);

/** For the rows of a generated test: the id is its name. */
export const byId = (chosen: readonly Endpoint[] = endpoints): [string, Endpoint][] =>
  chosen.map((endpoint) => [endpoint.id, endpoint]);

/** Nobody's but the operator's: every tenant, admins included, is refused with `internal_only`. */
export const isOfOperator = ({ credential, problems }: Pick<Endpoint, 'credential' | 'problems'>): boolean =>
  credential === 'internal' || (problems?.includes('internal_only') ?? false);

/** `GET /v1/runs/{}`: what two endpoints of one surface may not share, whatever they call their parameters. */
export const addressOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>): string =>
  `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`;

export const parameterNames = ({ path }: Pick<Endpoint, 'path'>): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => present(name));

/** The path with these values in the place of its parameters. */
export const fillPath = ({ path }: Pick<Endpoint, 'path'>, values: Record<string, string | number>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? `no-${name}`));

/** The public surface is these nine and stays these nine. `false`: its resource is not there yet. */
export const PUBLIC_API: Readonly<Record<string, boolean>> = {
  'GET /v1/agents': true,
  'GET /v1/workflows': true,
  'POST /v1/runs': true,
  'GET /v1/runs/{}': true,
  'POST /v1/projects': true,
  'GET /v1/projects/{}': true,
  'POST /v1/webhooks': true,
  'GET /v1/webhooks': true,
  'DELETE /v1/webhooks/{}': true,
};
