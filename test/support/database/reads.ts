/**
 * What is read of a workspace, endpoint by endpoint: for the test of their plans and for the figures of growth. A GET
 * endpoint that is not here fails the test, so that no list is added whose cost nobody looked at.
 */
import { sql } from 'drizzle-orm';
import { standingIn } from '../../../src/platform/core/rights.ts';
import { isStreamReply, type Caller, type EventStream, type Route } from '../../../src/platform/http/endpoint.ts';
import type { Database } from '../../../src/platform/db/client.ts';
import { ARCHIVED } from '../../bench/fill-archive.ts';

/** What it is asked with: `queries`, each a list of its own. */
interface Reading {
  queries?: readonly string[];
}

/** A page deep in the list is asked for wherever there is an offset. */
export const READS: Readonly<Record<string, Reading>> = {
  'runs.list': {
    queries: [
      '',
      'agent=writer',
      'agent=nobody',
      'transport=cron',
      'agent=writer&transport=rest',
      'since_hours=24',
      'since_hours=720',
      'since_hours=720&agent=nobody',
      'limit=500',
    ],
  },
  'runs.get': {},
  'runs.events': {},
  'runs.detail': {},
  'runs.stats': {},
  'runs.costs': { queries: ['window=24h', 'window=30d'] },
  'runs.context': {},
  'runs.contextContent': {},
  'runs.search': {
    queries: [
      '',
      'limit=200&status=failed',
      'agent=writer&limit=20',
      'transport=cron&limit=20',
      'since_hours=24&limit=20',
      'min_cost_usd=1000',
      'q=words-that-no-prompt-has',
    ],
  },
  'runs.counts': { queries: ['', 'agent=writer', 'agent=nobody'] },
  'runs.failures': { queries: ['since_hours=720', 'since_hours=720&agent=writer', 'agent=nobody'] },
  'runs.show': {},
  'runs.timeline': { queries: ['', 'limit=2000'] },
  'runs.transcript': {},
  'agents.detail': {},
  'projects.list': {
    queries: [
      'limit=20',
      'limit=20&status=completed',
      'limit=5&status=paused',
      'limit=20&status=active',
      'limit=5&workflow_slug=worksheet',
      'limit=20&from=2020-01-01T00:00:00Z',
      'limit=20&from=2020-01-01T00:00:00Z&status=paused',
      'limit=20&q=words-that-no-project-has',
      'limit=20&q=the&status=completed&workflow_slug=worksheet',
    ],
  },
  'projects.status': {},
  'projects.get': {},
  'projects.tasks': {},
  'projects.task': {},
  'projects.subtasks': {},
  'projects.subtask': {},
  'projects.attempts': {},
  'projects.events': {},
  'projects.subtaskEvents': {},
  'projects.artifacts': {},
  'projects.cost': {},
  'projects.criticalPath': {},
  'projects.estimate': { queries: ['of=resume'] },
  'attachments.list': {},
  'live.follow': {
    queries: ['after=0', 'after=0&kind=project', 'after=0&run_id=run-2', 'after=0&project_id=nobodys'],
  },
  'inbox.list': {
    queries: [
      '',
      'limit=20&status=settled',
      'limit=20&kind=gate',
      'overdue=true',
      'status=settled&project_id=archived-11',
      'limit=20&for=me',
    ],
  },
  'inbox.get': {},
  'events.list': {
    queries: [
      '',
      'since_hours=0&limit=400',
      'since_hours=720',
      'since_hours=0&category=artifact&limit=20',
      'since_hours=0&category=crash',
      'since_hours=0&category=task&limit=100',
      'since_hours=0&level=error&limit=10',
      'since_hours=0&level=debug',
      'since_hours=720&level=error',
    ],
  },
  'run-artifacts.list': { queries: ['', 'limit=5&agent=writer', 'agent=nobody'] },
  'search.find': {
    queries: [
      'q=chapter',
      'q=chapter&limit=100',
      'q=chapter&kind=run&status=failed',
      'q=words-that-nothing-has',
      'q=chapter -chapter',
      'q=artifact&kind=artifact',
      'q=chapter&agent=nobody',
      `q=chapter&from=${new Date(Date.now() - 24 * 3_600_000).toISOString()}`,
    ],
  },
  'cost.caps': {},
  'cost.forecast': {},
  'cost.rollup': {
    queries: ['window=30d&group_by=agent', 'window=30d&group_by=project', 'window=7d&group_by=day', 'group_by=model'],
  },
  'audit-log.list': {
    queries: [
      '',
      'limit=20&action=agents.create',
      'action=agents.delete',
      'limit=20&actor=person-4@example.com',
      'actor=nobody@example.com',
      `since=${new Date(Date.now() - 30 * 24 * 3_600_000).toISOString()}`,
      `since=${new Date(Date.now() - 24 * 3_600_000).toISOString()}&action=agents.delete`,
    ],
  },
  'webhook-deliveries.listEndpoints': {},
  'webhook-deliveries.list': {
    queries: ['', 'status=delivered', 'limit=10&status=exhausted', 'status=pending', 'endpoint=1', 'endpoint=999'],
  },
  'output-destinations.list': {},
  'output-destinations.listDeliveries': {
    queries: ['limit=20', 'limit=20&status=delivered', 'limit=20&status=failed'],
  },
  'webhook-gates.list': { queries: ['limit=20', 'limit=20&status=blocked', 'limit=20&status=succeeded'] },
  'webhooks.list': {},
  'memory.list': {
    queries: [
      'limit=10',
      'limit=2&agent=writer',
      'limit=10&agent=nobody',
      'limit=3&type=fact',
      'limit=10&type=nothing',
      'limit=10&scope=shared',
    ],
  },
  'memory.stats': {},
  'memory.graph': { queries: ['limit=10', 'limit=10&agent=nobody', 'limit=10&type=nothing'] },
  'chat.listThreads': { queries: ['limit=10'] },
  'customers.list': {},
  'crm-admin.list': {},
  'crm-admin.get': {},
  'crm-admin.notes': {},
  'billing.wallet': {},
  'billing.summary': {},
  'tools.list': {},
  'tools.detail': {},
  'agents.list': {},
  'agents.listInvokable': {},
  'skills.list': {},
  'api-keys.list': {},
  'members.list': {},
  'workspaces.list': {},
  'workspaces.get': {},
  'exports.list': {},
  'templates.list': {},
  'scheduled-jobs.list': {},
  'heartbeats.list': {},
  'manifests.export': {},
  'manifests.deployed': {},
  'deploy-tokens.list': {},
  'integrations.list': {},
  'feature-flags.list': {},
};

/** Why nothing is to be seen in how these are read. */
const CONFIGURATION = 'what people set up: capped by the plan, and no run adds to it';
const ONE_ROW = 'one row by its key';
const NO_TABLE = 'reads no table that grows';
export const NOT_READ: Readonly<Record<string, string>> = {
  'agents.getAvatar': NO_TABLE,
  'billing.catalog': NO_TABLE,
  'samples.list': NO_TABLE,
  'billing.topupOptions': NO_TABLE,
  'billing.addons': CONFIGURATION,
  'templates.listStartable': CONFIGURATION,
  'exports.get': ONE_ROW,
  'exports.download': ONE_ROW,
  'templates.get': ONE_ROW,
  'templates.versions': CONFIGURATION,
  'templates-alias.list': 'as templates.list',
  'templates-alias.get': ONE_ROW,
  'templates-alias.versions': CONFIGURATION,
  'files.download': ONE_ROW,
  'projects.artifact': ONE_ROW,
  'run-artifacts.get': ONE_ROW,
  'system.health': NO_TABLE,
  'system.info': NO_TABLE,
  'session.get': ONE_ROW,
  'integrations.get': CONFIGURATION,
  'memory.get': ONE_ROW,
  'memory.links': 'the links of one entry',
  'skills.get': ONE_ROW,
  'tools.mcpServers': CONFIGURATION,
  'output-destinations.get': ONE_ROW,
  'chat.getThread': ONE_ROW,
  'chat.listMessages': 'the runs of one conversation, by their index',
  'chat.listAttachments': 'the files of one conversation',
  'chat.turn': NO_TABLE,
  'scheduled-jobs.listAttachments': 'the files of one job',
  'heartbeats.get': ONE_ROW,
};

export interface Read {
  name: string;
  /** What it answers, or the problem that it answers with. */
  call(): Promise<unknown>;
}

const CALLER: Caller = {
  workspaceId: 'acc_internal',
  customerId: ARCHIVED,
  actor: 'owner@example.com',
  standing: standingIn('acc_internal', 'owner'),
};

/** Every read of the archive, the last page of each list included. */
/** A stream is read until it ends by itself. */
const NEVER = new AbortController().signal;

export async function readsOf(routes: readonly Route[], db: Database): Promise<Read[]> {
  const params = await paramsOf(db);
  const reads: Read[] = [];
  for (const { endpoint, handler } of routes) {
    const reading = READS[endpoint.id];
    if (endpoint.method !== 'get' || !reading) continue;
    const read = (query: string): Read => ({
      name: `${endpoint.id}${query && ` ${query.replace(/since=[^&]+/, 'since=...')}`}`,
      call: async () => {
        const answer = await handler({
          caller: CALLER,
          params: endpoint.params?.parse(params(endpoint.id)),
          query: endpoint.query?.parse(Object.fromEntries(new URLSearchParams(query))),
          body: undefined,
          header: () => undefined,
        } as unknown as Parameters<Route['handler']>[0]);
        if (isStreamReply(endpoint.reply)) for await (const _ of (answer as EventStream)(NEVER));
        return answer;
      },
    });
    for (const query of reading.queries ?? ['']) {
      const first = read(query);
      reads.push(first);
      const { total = 0, limit = 0, offset } = await metaOf(first);
      if (offset === 0 && total > 0) {
        const deep = read(`${query}${query && '&'}offset=${Math.max(0, total - limit)}`);
        reads.push({ ...deep, name: `${first.name}, last page` });
      }
    }
  }
  return reads;
}

async function metaOf(read: Read): Promise<{ total?: number; limit?: number; offset?: number }> {
  const answer = (await read.call().catch(() => undefined)) as { meta?: object } | undefined;
  return answer?.meta ?? {};
}

/** Of the oldest run and project of the archive. */
async function paramsOf(db: Database) {
  const [run] = await db.rows<{ id: string }>(
    sql`select id from runs where customer_id = ${ARCHIVED} order by seq limit 1`,
  );
  const [wait] = await db.rows<{ id: string }>(
    sql`select id from waits where customer_id = ${ARCHIVED} order by opened_at limit 1`,
  );
  const [step] = await db.rows<{ project_id: string; task_id: string; subtask_id: string }>(
    sql`select project_id, task_id, id as subtask_id from subtasks
      where customer_id = ${ARCHIVED} order by created_at, id limit 1`,
  );
  return (id: string): Record<string, unknown> => ({
    ...step,
    run_id: run?.id,
    wait_id: wait?.id,
    slug: id === 'tools.detail' ? 'calculator' : 'writer',
    customer_id: ARCHIVED,
    identity_workspace_id: 'acc_internal',
    id: 'acc_internal',
  });
}
