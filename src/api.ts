/** Entry point of the API process, which serves the gateway and the control plane: `node src/api.ts` */
import { sql } from 'drizzle-orm';
import { ConfigError } from './platform/core/config.ts';
import type { Disk } from './platform/files/disk.ts';
import { createSurface } from './platform/http/app.ts';
import { countingRefusals, createAuthenticate } from './platform/http/auth.ts';
import { codecRouter } from './platform/http/codec.ts';
import { compressed } from './platform/http/compressed.ts';
import type { Route } from './platform/http/endpoint.ts';
import { recordRequests } from './platform/http/metrics.ts';
import { consoleRouter } from './platform/http/console.ts';
import { docsRouter } from './platform/http/docs.ts';
import { createBrowserProxy, forwardTo } from './platform/http/proxy.ts';
import { tellExtensions } from './platform/http/extensions.ts';
import { listen, type HttpListener } from './platform/http/server.ts';
import { traceRequests } from './platform/http/tracing.ts';
import { orAfter, withinDeadline } from './platform/temporal/problems.ts';
import { mcpRouter } from './mcp-server/router.ts';
import { checkRecord } from './checked-record.ts';
import { metricsOf } from './observability.ts';
import { documents } from './openapi.ts';
import { allRoutes, routesOf } from './resources/index.ts';
import { LINK_PATH } from './resources/inbox/model.ts';
import { linkRouter } from './resources/inbox/link-routes.ts';
import { miniappRouter } from './resources/miniapps/routes.ts';
import { QUESTION_PATH } from './resources/output-destinations/model.ts';
import { recipientRouter } from './resources/output-destinations/page-routes.ts';
import { signInRouter } from './resources/sign-in/routes.ts';
import { runUntilSignalled, type Runtime } from './runtime.ts';
import { withServices } from './compose/process.ts';
import type { Services } from './compose/services.ts';

/** A readiness probe wants to know soon that a silent database keeps the process from being ready. */
const READY_MS = 4_000;

/** Pages and documents, which are large: what is sent below these is compressed. */
const PAGES = ['/console', '/docs', '/openapi', '/schemas', '/login', '/mcp', '/miniapps', QUESTION_PATH, LINK_PATH];

export interface Api {
  gatewayUrl?: string;
  controlPlaneUrl?: string;
  /** Drains requests, then closes. */
  close(): Promise<void>;
}

/** @param requireAnnounced rejects readiness until clients can know where the process is */
export async function startApi(runtime: Runtime, services: Services, requireAnnounced?: () => void): Promise<Api> {
  const { config, log, db, temporal } = runtime;
  const credentials = {
    sessionSecret: config.SESSION_SECRET,
    operatorToken: config.OPERATOR_TOKEN,
    findSession: services.signIn.sessions.find,
  };
  const check = createAuthenticate({
    ...credentials,
    adminSecret: config.ADMIN_SECRET,
    identityCaller: services.identityCaller,
    apiKeyCaller: services.apiKeys.caller,
  });
  const authenticate = countingRefusals(check, services.meters);
  await checkRecord(runtime, services);
  const routes = allRoutes(services).map((route) => whereThereIsRoom(route, services.disk));
  const audit = services.audit.trail;
  const controlPlaneRoutes = routesOf('control-plane', routes);
  const { pageKeys } = services;
  const onceOnly = config.EXTENSIONS.has('idempotency') ? services.onceOnly : undefined;
  const controlPlane = createSurface({ routes: controlPlaneRoutes, authenticate, audit, onceOnly, pageKeys });
  const ready = async () => {
    requireAnnounced?.();
    await orAfter(READY_MS, db.rows(sql`select 1`), () => {
      throw new Error(`the database does not answer within ${READY_MS} ms`);
    });
    await withinDeadline(temporal, () => temporal.connection.workflowService.getSystemInfo({}));
  };

  const watched = (listener: string, trust: { trustsCaller: boolean }) => [
    recordRequests(services, listener),
    traceRequests(listener, trust),
    ...tellExtensions(config.EXTENSIONS),
  ];

  const open: HttpListener[] = [];
  const api: Api = {
    async close() {
      services.live.close();
      await Promise.all(open.map((listener) => listener.close(config.SHUTDOWN_GRACE, config.SHUTDOWN_DELAY)));
    },
  };
  if (config.SURFACES !== 'gateway') {
    const { CONTROL_PLANE_PORT: port, CONTROL_PLANE_HOST: host } = config;
    const [codec] = temporal.dataConverter.payloadCodecs ?? [];
    const listener = await listen({
      port,
      setting: 'CONTROL_PLANE_PORT',
      host,
      log,
      ready,
      before: watched('control-plane', { trustsCaller: true }),
      routers: [
        ['/metrics', metricsOf(runtime, services)],
        ...(codec ? [['/codec', codecRouter({ codec, ...credentials, uiUrl: config.TEMPORAL_UI_URL })] as const] : []),
        controlPlane,
      ],
    });
    open.push(listener);
    api.controlPlaneUrl = listener.url;
  }
  if (config.SURFACES !== 'control-plane') {
    const forward = config.SURFACES === 'all' ? controlPlane : forwardTo(requireControlPlaneUrl(config));
    const proxy = createBrowserProxy({
      sessionSecret: config.SESSION_SECRET,
      adminSecret: config.ADMIN_SECRET,
      baseUrl: config.BASE_URL,
      routes: controlPlaneRoutes,
      forward,
      onRefused: () => services.meters.refusedCredentials.inc({ credential: 'session', reason: 'auth_required' }),
    });
    const publicRoutes = routesOf('public', routes);
    const publicSurface = createSurface({ routes: publicRoutes, authenticate, audit, onceOnly, pageKeys });
    const listener = await listen({
      port: config.PORT,
      setting: 'PORT',
      log,
      ready,
      before: watched('gateway', { trustsCaller: false }),
      trustProxy: config.TRUST_PROXY,
      routers: [
        ...PAGES.map((path) => [path, compressed] as const),
        ['/api/v1/cp', proxy],
        ['/mcp', mcpRouter({ routes, authenticate, audit, baseUrl: config.BASE_URL, log, pageKeys })],
        [QUESTION_PATH, recipientRouter({ destinations: services.destinations })],
        [LINK_PATH, linkRouter({ links: services.actionLinks, baseUrl: services.baseUrl })],
        ['/miniapps', miniappRouter({ miniapps: services.miniapps, baseUrl: config.BASE_URL })],
        signInRouter({
          signIn: services.signIn,
          baseUrl: config.BASE_URL,
          log,
          identityKeysUrl: config.IDENTITY_JWKS_URL,
        }),
        consoleRouter({ environmentName: config.ENVIRONMENT_NAME }),
        docsRouter({ documents: documents(routes, config), schemas: services.manifests.schemas }),
        publicSurface,
      ],
    });
    open.push(listener);
    api.gatewayUrl = listener.url;
  }
  // It is not awaited, because mail servers take their time.
  services.destinations
    .askNeverAsked()
    .catch((err: unknown) => log.warn({ err }, 'recipients could not be asked for their consent'));
  log.info({ gateway: api.gatewayUrl, control_plane: api.controlPlaneUrl }, 'listening');
  return api;
}

function requireControlPlaneUrl({ CONTROL_PLANE_URL }: Runtime['config']): string {
  if (!CONTROL_PLANE_URL) throw new ConfigError('CONTROL_PLANE_URL: is not set; SURFACES=gateway needs it');
  return CONTROL_PLANE_URL;
}

/** Refuses what makes something new in time: work that was accepted needs the rest of the disk to come to its end. */
function whereThereIsRoom(route: Route, { demandRoom }: Disk): Route {
  if (route.endpoint.status !== 201) return route;
  return {
    ...route,
    async handler(asked) {
      await demandRoom();
      return route.handler(asked);
    },
  };
}

if (import.meta.main) await runUntilSignalled(withServices(startApi));
