/**
 * Declares every address of the console. A page is loaded when it is first visited, or when the pointer is on a link to
 * it.
 */
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import type { ComponentType } from 'react';
import { queryClient } from './api/query-client.ts';
import { sessionQuery } from './api/session.ts';
import { waitQuery, waitsQuery } from './features/inbox/queries.ts';
import { parseInboxFilters } from './features/inbox/view.ts';
import { Shell, ShellProblem } from './features/shell/shell.tsx';
import { parseCostSearch } from './features/costs/view.ts';
import { projectsQuery } from './features/projects/queries.ts';
import { parseProjectFilter, parseProjectView } from './features/projects/view.ts';
import { runCountsQuery, runsQuery } from './features/runs/queries.ts';
import { parseRunFilters } from './features/runs/filters.ts';
import { parseRunView } from './features/runs/view.ts';
import { Empty } from './ui/empty.tsx';
import { Page } from './ui/page.tsx';
import { parseSectionSearch } from './ui/section-search.ts';

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  beforeLoad: ({ context }) => context.queryClient.ensureQueryData(sessionQuery),
  component: Shell,
  errorComponent: ShellProblem,
  notFoundComponent: () => (
    <Page title="Not found">
      <Empty title="There is no such page">Check the address, or pick one of those that there are.</Empty>
    </Page>
  ),
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  // Who comes to an empty workspace is shown what to begin with.
  beforeLoad: async ({ context }) => {
    const counts = await context.queryClient.ensureQueryData(runCountsQuery()).catch(() => undefined);
    const isEmpty = counts !== undefined && Object.values(counts).every((n) => n === 0);
    throw redirect({ to: isEmpty ? '/welcome' : '/runs' });
  },
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: parseRunFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchInfiniteQuery(runsQuery(deps)),
  component: lazyRouteComponent(() => import('./routes/runs.tsx'), 'RunsPage'),
});
const newRun = createRoute({
  getParentRoute: () => root,
  path: '/runs/new',
  validateSearch: ({ agent, from }: Record<string, unknown>): { agent?: string; from?: string } => ({
    ...(typeof agent === 'string' && { agent }),
    ...(typeof from === 'string' && { from: from.slice(0, 64) }),
  }),
  component: lazyRouteComponent(() => import('./routes/new-run.tsx'), 'NewRunPage'),
});
const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$runId',
  validateSearch: parseRunView,
  component: lazyRouteComponent(() => import('./routes/run.tsx'), 'RunPage'),
});

const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  validateSearch: parseProjectFilter,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchInfiniteQuery(projectsQuery(deps)),
  component: lazyRouteComponent(() => import('./routes/projects.tsx'), 'ProjectsPage'),
});
const newProject = createRoute({
  getParentRoute: () => root,
  path: '/projects/new',
  validateSearch: ({ workflow }: Record<string, unknown>): { workflow?: string } =>
    typeof workflow === 'string' ? { workflow } : {},
  component: lazyRouteComponent(() => import('./routes/new-project.tsx'), 'NewProjectPage'),
});
const project = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId',
  validateSearch: parseProjectView,
  component: lazyRouteComponent(() => import('./routes/project.tsx'), 'ProjectPage'),
});

const inboxPage = lazyRouteComponent(() => import('./routes/inbox.tsx'), 'InboxPage');
const inbox = createRoute({
  getParentRoute: () => root,
  path: '/inbox',
  validateSearch: parseInboxFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchInfiniteQuery(waitsQuery(deps)),
  component: inboxPage,
});
const wait = createRoute({
  getParentRoute: () => root,
  path: '/inbox/$waitId',
  validateSearch: parseInboxFilters,
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(waitQuery(params.waitId)),
  component: inboxPage,
});

/** Declares a page of several views of one subject. None of its code is loaded before the page is visited. */
const section = <Path extends string>(path: Path, load: () => Promise<Record<string, ComponentType>>, name: string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: parseSectionSearch,
    component: lazyRouteComponent(load, name),
  });
const webhooks = section('/webhooks', () => import('./routes/webhooks.tsx'), 'WebhooksPage');
const schedules = section('/schedules', () => import('./routes/schedules.tsx'), 'SchedulesPage');
const catalog = section('/catalog', () => import('./routes/catalog.tsx'), 'CatalogPage');
const memory = section('/memory', () => import('./routes/memory.tsx'), 'MemoryPage');
const workspace = section('/workspace', () => import('./routes/workspace.tsx'), 'WorkspacePage');
const health = section('/health', () => import('./routes/health.tsx'), 'HealthPage');
const chat = section('/chat', () => import('./routes/chat.tsx'), 'ChatPage');
const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./routes/welcome.tsx'), 'WelcomePage'),
});
const costs = createRoute({
  getParentRoute: () => root,
  path: '/costs',
  validateSearch: parseCostSearch,
  component: lazyRouteComponent(() => import('./routes/costs.tsx'), 'CostsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    welcome,
    inbox,
    wait,
    runs,
    newRun,
    run,
    projects,
    newProject,
    project,
    chat,
    costs,
    webhooks,
    schedules,
    catalog,
    memory,
    workspace,
    health,
  ]),
  basepath: '/console',
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPreloadDelay: 60,
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 150,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
