/** Declares `aos memory`, which finds, adds and corrects what the workspace knows, and shows how it is linked. */
import { InvalidArgumentError } from 'commander';
import { present } from '../../platform/core/present.ts';
import {
  bulkDeleteEntries,
  createEntry,
  deleteEntry,
  getEntry,
  listEntries,
  memoryStats,
  supersedeEntry,
  updateEntry,
  verifyEntry,
} from '../../resources/memory/contract.ts';
import { listLinks, memoryGraph } from '../../resources/memory/graph/contract.ts';
import type { ServiceClient } from '../client.ts';
import { ask, card, command, group, list, type ReplyOf } from '../commands.ts';
import { addReEmbedCommand } from '../memory-re-embed.ts';
import { CliError, oneLine, paint, shortTime } from '../output.ts';

type Entry = ReplyOf<typeof getEntry>;
type Links = ReplyOf<typeof listLinks>;

const FILTERS = {
  agent: '-a, --agent <slug> | of one agent',
  type: '-t, --type <label> | of one type',
  scope: '--scope <scope> | of one scope',
  limit: '-n, --limit <count> = 20 | how many',
} as const;
const COLUMNS = 'ID> id, TYPE type, AGENT agent, STATUS, SLUG slug, CONTENT preview~80';
const STATUS = ({ has_embedding, status }: { has_embedding: boolean; status: string }) =>
  has_embedding ? status : `${status}, unreadable`;

const DESCRIBED = {
  type: '-t, --type <label> | note, fact, pattern, feedback, project, reference, ...',
  slug: '--slug <slug> | what links name it by',
  name: '--name <name> | its title',
  description: '-d, --description <text> | what it is about',
  agent: '-a, --agent <slug> | whose it is; by default everybody’s',
  scope: '--scope <scope> | shared, or personal to its agent',
} as const;
const words = { id: 'number of the entry', content: 'what is to be known; [[slug]] in it links to another entry' };
const needs = 'give the content, or --file';

function entryId(given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('expects the number of an entry');
}
const parse = { id: entryId };

const titleOf = ({ id, name, slug }: Pick<Entry, 'id' | 'name' | 'slug'>): string => name ?? slug ?? `entry ${id}`;
async function describeEntry(entry: Entry, service: ServiceClient): Promise<string> {
  const { outgoing, incoming } = await ask(service, listLinks, [entry.id]);
  const near = entry.has_embedding
    ? 'when it is close to what a run is about'
    : 'never by itself: the embedding model cannot read its script (EMBEDDING_PROVIDER=multilingual can)';
  const linked = (heading: string, edges: Links['outgoing']) =>
    edges.length > 0 ? [`\n${paint('bold', heading)}`, ...edges.map(linkLine)] : [];
  return [
    paint('bold', oneLine(titleOf(entry))),
    ...(entry.description ? [oneLine(entry.description)] : []),
    '',
    card({
      type: `${entry.type}, ${entry.status}`,
      slug: entry.slug,
      for: `${entry.agent ?? 'every agent'}, ${entry.scope}`,
      source: entry.source_attribution,
      read: entry.always_load ? 'in every run' : near,
      recalled: `${entry.hit_count} of ${entry.impression_count} times, last ${shortTime(entry.last_hit_at)}`,
      made: shortTime(entry.created_at),
      verified: shortTime(entry.last_verified_at),
    }),
    `\n${entry.content}`,
    ...linked('links', outgoing),
    ...linked('linked by', incoming),
  ].join('\n');
}

const linkLine = ({ edge_type, dst_slug, other }: Links['outgoing'][number]): string =>
  `  ${edge_type.padEnd(12)}${oneLine(other ? `${titleOf(other)} (${other.id})` : `${dst_slug}: no such entry yet`)}`;

function describeGraph({ nodes, edges, meta }: ReplyOf<typeof memoryGraph>): string {
  const names = new Map(nodes.map((node) => [node.id, oneLine(titleOf(node))]));
  const bySource = Map.groupBy(edges, ({ source }) => source);
  const dangling = meta.dropped_dangling > 0 ? `, ${meta.dropped_dangling} links that lead elsewhere or nowhere` : '';
  return [
    ...nodes.flatMap(({ id, type }) => [
      `${paint('bold', present(names.get(id)))} (${id}, ${oneLine(type)})`,
      ...(bySource.get(id) ?? []).map((edge) => `  ${edge.edge_type} ${names.get(edge.target)}`),
    ]),
    `${meta.node_count} entries, ${meta.edge_count} links between them${dangling}`,
    ...(meta.truncated ? ['There is more: see --limit, --type and --agent.'] : []),
  ].join('\n');
}

function describeStats({ total, unreadable, by_agent, by_type, by_scope }: ReplyOf<typeof memoryStats>): string {
  const counted = (heading: string, counts: typeof by_agent, none: string) => [
    ...(counts.length > 0 ? [`\n${paint('bold', heading)}`] : []),
    ...counts.map(({ key, count }) => `  ${String(count).padStart(8)}  ${oneLine(key) || none}`),
  ];
  return [
    `${total} entries`,
    ...(unreadable > 0
      ? [`${unreadable} of them are never recalled: the embedding model cannot read their script`]
      : []),
    ...counted('by agent', by_agent, '(every agent)'),
    ...counted('by type', by_type, '-'),
    ...counted('by scope', by_scope, '-'),
  ].join('\n');
}

export const memory = group(
  'memory',
  'what the workspace knows: find it, add to it, correct it',
  [
    list('list', listEntries, {
      about: 'newest first',
      flags: FILTERS,
      columns: COLUMNS,
      cells: { STATUS },
      empty: 'nothing yet; add something with: aos memory create "..."',
    }),
    list('search <question>', listEntries, {
      about: 'by what it means, the closest first',
      flags: FILTERS,
      fields: ({ question, ...filters }) => ({ q: question, ...filters }),
      columns: `SCORE>, ${COLUMNS}`,
      cells: { STATUS, SCORE: (row) => row.score?.toFixed(3) },
      empty: 'nothing found',
    }),
    command('show <id>', getEntry, {
      about: 'an entry with what it links to',
      words,
      parse,
      say: (entry, _, service) => describeEntry(entry, service),
      json: async (entry, _, service) => ({ ...entry, links: await ask(service, listLinks, [entry.id]) }),
    }),
    command('graph', memoryGraph, {
      about: 'entries and the links between them',
      flags: {
        type: '-t, --type <labels...> | of these types',
        agent: '-a, --agent <slug> | of one agent',
        status: '-s, --status <status> = active | in this state',
        limit: '-n, --limit <count> = 100 | how many entries, the newest',
      },
      say: describeGraph,
    }),
    command('stats', memoryStats, { about: 'how many entries there are of what', say: describeStats }),
    command('create [content]', createEntry, {
      about: 'keep something; a note, unless --type says otherwise',
      words,
      flags: {
        ...DESCRIBED,
        source_attribution: '--source <text> | where it is from',
        always_load: '--always | show it to its agent in every run',
      },
      file: 'content',
      needs,
      fields: (given) => ({ type: 'note', ...given }),
      say: (made) => oneLine(`${made.id}: ${titleOf(made)} is kept`),
    }),
    command('update <id> [content]', updateEntry, {
      about: 'change what is given, and nothing else; needs a code',
      words,
      parse,
      flags: {
        description: '-d, --description <text> | what it is about',
        scope: '--scope <scope> | shared, or personal to its agent',
        always_load: '--always | show it to its agent in every run',
        'always_load!': '--no-always | leave it to searches',
        archive: '--archive | recall it no more',
        restore: '--restore | recall it again',
        re_embed: '--re-embed | have searches go by its content as it is; new content does so',
        're_embed!': '--no-re-embed | have searches go by the old content',
      },
      file: 'content',
      fields({ id: _, archive, restore, ...given }) {
        if (archive && restore) throw new CliError("option '--archive' cannot be used with option '--restore'");
        const re_embed = given.re_embed ?? (given.content === undefined ? undefined : true);
        return { ...given, re_embed, status: archive ? 'archived' : restore ? 'active' : undefined };
      },
      say: (changed, { id }) => oneLine(`${id}: ${titleOf(changed)} is changed`),
    }),
    command('delete <ids...>', deleteEntry, {
      about: 'delete entries for good, all of them or none; needs a code',
      words: { ids: 'numbers of the entries' },
      parse: { ids: (id, before) => [...(Array.isArray(before) ? before : []), entryId(id)] },
      choose: ({ ids }) => (ids.length > 1 ? { endpoint: bulkDeleteEntries, fields: { ids } } : { path: ids }),
      fields: () => ({}),
      json: (_, { ids }) => ({ deleted: ids }),
      say: (_, { ids }) => `deleted: ${ids.join(', ')}`,
    }),
    command('verify <id>', verifyEntry, {
      about: 'note that it still holds',
      words,
      parse,
      say: ({ last_verified_at: at }, { id }) => `${id} is verified, ${shortTime(at)} UTC`,
    }),
    command('supersede <id> [content]', supersedeEntry, {
      about: 'put a new entry in its place, which inherits what is not given',
      words,
      parse,
      flags: DESCRIBED,
      file: 'content',
      needs,
      say: (made, { id }) => oneLine(`${made.id}: ${titleOf(made)} is in the place of ${id}`),
    }),
    addReEmbedCommand,
  ],
  `Examples:
  aos memory create "The bakery opens at six." --type fact --slug opening-hours
  aos memory search "when can I buy bread?"
  aos memory supersede 12 "The bakery opens at seven, see [[holidays]]."
  aos memory update 12 --archive
  aos memory delete 12 13 14`,
);
