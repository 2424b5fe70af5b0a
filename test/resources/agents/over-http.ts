/** Agents over HTTP and on a real database, for the tests of this folder. */
import { afterAll, beforeAll } from '@jest/globals';
import express from 'express';
import type { Server } from 'node:http';
import request from 'supertest';
import { createLog } from '../../../src/platform/core/log.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createSurface, errorHandler, notFound } from '../../../src/platform/http/app.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import type { RecentRuns } from '../../../src/resources/agents/contract.ts';
import { agentRoutes } from '../../../src/resources/agents/routes.ts';
import { createAgentService } from '../../../src/resources/agents/service.ts';
import { createAgentStore, type AgentStore } from '../../../src/resources/agents/store.ts';
import { createWorkspaceStore } from '../../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

const RECENT_RUNS: RecentRuns = {
  total: 3,
  succeeded: 2,
  failed: 1,
  cost_usd: '0.04200000',
  last: [
    {
      run_id: '01jd0000000000000000000000',
      parent_run_id: null,
      agent: 'writer',
      transport: 'rest',
      started_at: new Date('2026-03-01T10:00:00Z'),
      last_event_at: new Date('2026-03-01T10:00:05Z'),
      last_event_type: 'run_completed',
      last_status: 'succeeded',
      event_count: 6,
      total_cost_usd: '0.014',
      is_priced: true,
      model: 'offline',
      reasoning: null,
      model_tier: 'offline',
      model_rule: 'offline',
      model_enforce: false,
      sample: false,
    },
  ],
};

export let database: TestDatabase;

export let store: AgentStore;

export let server: Server;

export let publicServer: Server;

const callers = new Map<string, Caller>();

export const askedFor: string[][] = [];

function serve({ publicVisibility }: { publicVisibility: boolean }): Server {
  const service = createAgentService({
    store,
    workspaces: createWorkspaceStore(database.db, TENANT_DATA),
    files: { put: unused, get: unused, discard: unused },
    // References are tried in the whole service, by test/resources/references.
    references: { warningsFor: async () => ({}), requireUnused: async () => {}, requireCallable: async () => {} },
    recentRuns: async (customerId, slug) => {
      askedFor.push([customerId, slug]);
      return RECENT_RUNS;
    },
    publicVisibility,
  });
  const routes = agentRoutes({ agents: service });
  const authenticate = async (_credential: unknown, { headers }: { headers: Record<string, unknown> }) => {
    const caller = callers.get(String(headers['x-test-workspace']));
    if (!caller) throw new Problem('auth_required');
    return caller;
  };
  const on = (surface: string) => routes.filter(({ endpoint }) => endpoint.surface === surface);
  const app = express();
  app.use('/public', createSurface({ routes: on('public'), authenticate }));
  app.use(createSurface({ routes: on('control-plane'), authenticate }));
  app.use(notFound, errorHandler(createLog({ level: 'silent', pretty: false })));
  return app.listen(0, '127.0.0.1');
}

const unused = () => Promise.reject(new Error('these tests store no file'));

export const call = (method: 'get' | 'post' | 'patch' | 'delete', workspace: string, path: string, to = server) =>
  request(to)[method](path).set('x-test-workspace', workspace);

export const create = (workspace: string, body: unknown) => call('post', workspace, '/v1/agents').send(body as object);

export const patch = (workspace: string, path: string, body: unknown) =>
  call('patch', workspace, `/v1/agents/${path}`).send(body as object);

export const detail = (workspace: string, slug: string) => call('get', workspace, `/v1/agents/${slug}/detail`);

export const minimal = (slug: string) => ({ slug, model: 'claude-haiku-4-5', prompt: 'You answer in haiku.' });

/** Before the tests of a file: two workspaces with agents, some of which have run. */
export function useAgents(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    for (const [id, plan] of [
      ['acc_acme', 'pro_hosted'],
      ['acc_other', 'pro_hosted'],
      ['acc_small', 'free'],
      ['acc_quiet', 'pro_hosted'],
    ] as const) {
      const caller = await makeWorkspace(database.db, id, plan);
      callers.set(caller.customerId, caller);
    }
    store = createAgentStore(database.db);
    server = serve({ publicVisibility: false });
    publicServer = serve({ publicVisibility: true });
  });

  afterAll(async () => {
    for (const one of [server, publicServer]) await new Promise((resolve) => one.close(resolve));
    await database.close();
  });
}
