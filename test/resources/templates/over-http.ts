/** Workflow templates over HTTP and on a real database, for the tests of this folder. */
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { eq } from 'drizzle-orm';
import express from 'express';
import type { Server } from 'node:http';
import request from 'supertest';
import { createLog } from '../../../src/platform/core/log.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createSurface, errorHandler, notFound } from '../../../src/platform/http/app.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { createAgentStore } from '../../../src/resources/agents/store.ts';
import type { BuiltinTemplate, WorkflowSpec } from '../../../src/resources/templates/model.ts';
import { templateRoutes } from '../../../src/resources/templates/routes.ts';
import { createTemplateService, type TemplateService } from '../../../src/resources/templates/service.ts';
import { createTemplateStore, type TemplateStore } from '../../../src/resources/templates/store.ts';
import { templates } from '../../../src/resources/templates/table.ts';
import { describedTools } from '../../support/service/builtin-tools.ts';
import { createToolRegistry } from '../../../src/resources/tools/registry.ts';
import { workspaces } from '../../../src/resources/workspaces/table.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';
import { spec } from './specs.ts';

const PARAMS = {
  type: 'object',
  required: ['topic', 'length', 'audience', 'constructor'],
  properties: {
    topic: { type: 'string', description: 'What it is about' },
    length: { type: ['integer', 'null'] },
    tone: { type: 'string' },
  },
};

export const BUILTINS: BuiltinTemplate[] = [
  {
    collection: 'writing',
    tags: ['text'],
    spec: { ...spec({ slug: 'story', title: 'Story', params: PARAMS }), description: 'A short story.' },
  },
  {
    collection: 'web',
    tags: ['html', 'text'],
    spec: { ...spec({ slug: 'page', title: 'Page' }), description: 'A page.' },
  },
];

export let database: TestDatabase;

export let store: TemplateStore;

export let service: TemplateService;

export let server: Server;

const callers = new Map<string, Caller>();

function goneWorkspace() {
  return eq(workspaces.customerId, 'gone');
}

function serve(): Server {
  const routes = templateRoutes({ templates: service });
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

export const call = (method: 'get' | 'post' | 'patch' | 'delete', path: string, workspace = 'acme') =>
  request(server)[method](path).set('x-test-workspace', workspace);

export const get = (path: string, workspace?: string) => call('get', path, workspace);

export const post = (body: unknown, workspace?: string) =>
  call('post', '/v1/workflows', workspace).send(body as object);

export const patch = (slug: string, body: unknown, workspace?: string) =>
  call('patch', `/v1/workflows/${slug}`, workspace).send(body as object);

export const remove = (slug: string, workspace?: string) => call('delete', `/v1/workflows/${slug}`, workspace);

export const make = async (more: Partial<WorkflowSpec> = {}, metadata: object = {}, workspace?: string) =>
  (await post({ spec: spec(more), ...metadata }, workspace).expect(201)).body;

export const list = async (query = '', workspace?: string): Promise<Record<string, unknown>[]> =>
  (await get(`/v1/workflows${query}`, workspace).expect(200)).body.data;

export const slugs = async (query?: string, workspace?: string) =>
  (await list(query, workspace)).map(({ slug }) => slug);

export const versions = async (slug: string, workspace?: string): Promise<Record<string, unknown>[]> =>
  (await get(`/v1/workflows/${slug}/versions`, workspace).expect(200)).body.data;

/** Before the tests of a file: the built-in ones, in two workspaces. */
export function useTemplates(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    for (const id of ['acc_acme', 'acc_other', 'acc_gone']) {
      const caller = await makeWorkspace(database.db, id);
      callers.set(caller.customerId, caller);
    }
    await database.db.orm.update(workspaces).set({ status: 'archived', archivedAt: new Date() }).where(goneWorkspace());
    store = createTemplateStore(database.db);
    service = createTemplateService({
      store,
      agentExists: createAgentStore(database.db).isAgent,
      tools: createToolRegistry([describedTools]),
      skillExists: async (_, slugs) => new Set(slugs.filter((slug) => slug === 'proofreading')),
      actionNames: ['save_file'],
    });
    server = serve();
  });

  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    await database.close();
  });

  beforeEach(async () => {
    await database.db.orm.delete(templates);
    await store.seedBuiltins(BUILTINS);
  });
}
