/** Holds the parts of `aos memory` that show entries. */
import type {
  MemoryEntry,
  MemoryEntryListRow,
  MemoryGraph,
  MemoryLinksResponse,
  MemoryStatsResponse,
} from '../../client/src/api.ts';
import { present } from '../platform/core/present.ts';
import type { EntryStatus } from '../resources/memory/model.ts';
import { openService } from './client.ts';
import { queryOf } from './filters.ts';
import { list as listAll, type Listing, type ListOptions } from './listing.ts';
import { oneLine, paint, print, printJson, shorten, shortTime } from './output.ts';

type Link = MemoryLinksResponse['outgoing'][number];
type Counts = MemoryStatsResponse['by_agent'];

export interface Output {
  json?: boolean;
}

interface Filter extends ListOptions {
  agent?: string;
  type?: string;
  scope?: string;
  limit: string;
}

export const ENTRIES = '/v1/memory/entries';
export const entryPath = (id: number): string => `${ENTRIES}/${id}`;

const COLUMNS: Listing<MemoryEntryListRow>['columns'] = [
  { title: 'ID', value: (row) => row.id, align: 'right' },
  { title: 'TYPE', value: (row) => row.type },
  { title: 'AGENT', value: (row) => row.agent },
  { title: 'STATUS', value: (row) => (row.has_embedding ? row.status : `${row.status}, unreadable`) },
  { title: 'SLUG', value: (row) => row.slug },
  { title: 'CONTENT', value: (row) => shorten(oneLine(row.preview), 80) },
];
const SCORE: Listing<MemoryEntryListRow>['columns'][number] = {
  title: 'SCORE',
  value: (row) => row.score?.toFixed(3),
  align: 'right',
};

export const list = (filter: Filter): Promise<void> =>
  printEntries(filter, COLUMNS, 'nothing yet; add something with: aos memory create "..."');

export const search = (q: string, filter: Filter): Promise<void> =>
  printEntries({ ...filter, q }, [SCORE, ...COLUMNS], 'nothing found');

const printEntries = (
  { q, agent, type, scope, limit, ...options }: Filter & { q?: string },
  columns: Listing<MemoryEntryListRow>['columns'],
  empty: string,
): Promise<void> =>
  listAll<MemoryEntryListRow>({ path: ENTRIES, query: { q, agent, type, scope, limit }, columns, empty }, options);

export async function show(id: number, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const entry = await service.controlPlane<MemoryEntry>('GET', entryPath(id));
  const links = await service.controlPlane<MemoryLinksResponse>('GET', `${entryPath(id)}/links`);
  if (json) return printJson({ ...entry, links });
  const line = (name: string, value: string | null) => value && print(`${name.padEnd(12)}${oneLine(value)}`);
  print(paint('bold', oneLine(titleOf(entry))));
  if (entry.description) print(oneLine(entry.description));
  print();
  line('type', `${entry.type}, ${entry.status}`);
  line('slug', entry.slug);
  line('for', `${entry.agent ?? 'every agent'}, ${entry.scope}`);
  line('source', entry.source_attribution);
  const near = entry.has_embedding
    ? 'when it is close to what a run is about'
    : 'never by itself: the embedding model cannot read its script (EMBEDDING_PROVIDER=multilingual can)';
  line('read', entry.always_load ? 'in every run' : near);
  line('recalled', `${entry.hit_count} of ${entry.impression_count} times, last ${shortTime(entry.last_hit_at)}`);
  line('made', shortTime(entry.created_at));
  line('verified', shortTime(entry.last_verified_at));
  print(`\n${entry.content}`);
  const tell = (heading: string, edges: Link[]) => {
    if (edges.length > 0) print(`\n${paint('bold', heading)}\n${edges.map(linkLine).join('\n')}`);
  };
  tell('links', links.outgoing);
  tell('linked by', links.incoming);
}

export const titleOf = ({ id, name, slug }: Pick<MemoryEntry, 'id' | 'name' | 'slug'>): string =>
  name ?? slug ?? `entry ${id}`;

const linkLine = ({ edge_type, dst_slug, other }: Link): string =>
  `  ${edge_type.padEnd(12)}${oneLine(other ? `${titleOf(other)} (${other.id})` : `${dst_slug}: no such entry yet`)}`;

interface GraphFilter extends Output {
  type?: string[];
  agent?: string;
  status: EntryStatus;
  limit: string;
}

export async function graph({ json, type = [], agent, status, limit }: GraphFilter): Promise<void> {
  const query = queryOf({ agent, status, limit });
  for (const label of type) query.append('type', label);
  const service = await openService(process.env);
  const reply = await service.controlPlane<MemoryGraph>('GET', `/v1/memory/graph?${query}`);
  if (json) return printJson(reply);
  const { nodes, edges, meta } = reply;
  const names = new Map(nodes.map((node) => [node.id, oneLine(titleOf(node))]));
  const bySource = Map.groupBy(edges, ({ source }) => source);
  for (const { id, type } of nodes) {
    print(`${paint('bold', present(names.get(id)))} (${id}, ${oneLine(type)})`);
    for (const edge of bySource.get(id) ?? []) print(`  ${edge.edge_type} ${names.get(edge.target)}`);
  }
  const dangling = meta.dropped_dangling > 0 ? `, ${meta.dropped_dangling} links that lead elsewhere or nowhere` : '';
  print(`${meta.node_count} entries, ${meta.edge_count} links between them${dangling}`);
  if (meta.truncated) print('There is more: see --limit, --type and --agent.');
}

export async function stats({ json }: Output): Promise<void> {
  const service = await openService(process.env);
  const reply = await service.controlPlane<MemoryStatsResponse>('GET', '/v1/memory/stats');
  if (json) return printJson(reply);
  print(`${reply.total} entries`);
  if (reply.unreadable > 0)
    print(`${reply.unreadable} of them are never recalled: the embedding model cannot read their script`);
  const tell = (heading: string, counts: Counts, none: string) => {
    if (counts.length > 0) print(`\n${paint('bold', heading)}`);
    for (const { key, count } of counts) print(`  ${String(count).padStart(8)}  ${oneLine(key) || none}`);
  };
  tell('by agent', reply.by_agent, '(every agent)');
  tell('by type', reply.by_type, '-');
  tell('by scope', reply.by_scope, '-');
}
