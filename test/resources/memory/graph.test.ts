/** What links entries: wikilinks in their contents, and entries that took the place of others. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { PACKAGED } from '../../../src/platform/models/embed-packaged.ts';
import { MAX_LINKS, wikilinks } from '../../../src/resources/memory/model.ts';
import { confirmed } from '../../support/service/otp.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { cpuMsOf } from '../../support/observability/effort.ts';

const ENTRIES = '/v1/memory/entries';

let service: TestService;
let tenant: Tenant;
let workspaces = 0;

beforeAll(async () => {
  service = await startTestService({ worker: false });
  tenant = await newTenant();
});
afterAll(() => service?.close());

const newTenant = () => service.tenant(`acc_graph_${(workspaces += 1)}`);

async function create(content: string, more: object = {}, by = tenant) {
  const { status, body } = await by.cp('POST', ENTRIES, { type: 'note', content, ...more });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}
const links = async (id: number, by = tenant) => (await by.cp('GET', `${ENTRIES}/${id}/links`)).body;
const targets = async (id: number, by = tenant) =>
  (await links(id, by)).outgoing.map(({ dst_slug, dst_id }: Record<string, unknown>) => [dst_slug, dst_id]);
const supersede = (id: number, body: object, by = tenant) => by.cp('POST', `${ENTRIES}/${id}/supersede`, body);
const remove = (id: number, by = tenant) => confirmed(by, 'DELETE', `${ENTRIES}/${id}`);
const graph = async (query = '', by = tenant) => (await by.cp('GET', `/v1/memory/graph${query}`)).body;

describe('wikilinks', () => {
  // Guards: wikilinks are told apart from plain text.
  test.each<[string, string[]]>([
    ['See [[bread]] and [[ oven | the oven ]].', ['bread', 'oven']],
    ['[[a]] [[b]] [[a]] [[a|again]]', ['a', 'b']],
    ['[[Übung-1]] [[a.b:c/d_e]] [[A]] [[a]]', ['Übung-1', 'a.b:c/d_e', 'A', 'a']],
    ['[[__proto__]] [[constructor]]', ['constructor']],
    ['[[]] [[ ]] [[|x]] [[a b]] [[-a]] [a] [[a] [[b\n]] ]][[', []],
    ['[[[a]]] [[[[b]]]]', ['a', 'b']],
    [`[[${'x'.repeat(128)}]] [[${'y'.repeat(129)}]]`, ['x'.repeat(128)]],
  ])('%j', (content, slugs) => expect(wikilinks(content)).toEqual(slugs));

  // Guards: an entry makes a bounded number of edges, and no content makes parsing slow.
  test('are bounded', async () => {
    const many = Array.from({ length: MAX_LINKS + 50 }, (_, n) => `[[s${n}]]`).join(' ');
    expect(wikilinks(many)).toHaveLength(MAX_LINKS);
    const took = await cpuMsOf(() => {
      for (const evil of ['[', '[[a', '[[a|', '|', ' ', '[[ ', '[[a|b]']) wikilinks(evil.repeat(100_000 / evil.length));
    });
    expect(took).toBeLessThan(10_000);
  });
});

describe('memory.links', () => {
  // Guards: a link is listed with the same shape at both of its ends.
  test('are told at both ends', async () => {
    const oven = await create('Hot.', { slug: 'oven', name: 'Oven' });
    const bread = await create('Bake it in the [[oven|big oven]], see [[nowhere]].', { slug: 'bread' });
    const end = ({ id, type, slug, name, status }: Record<string, unknown>) => ({ id, type, slug, name, status });
    const edge = { edge_type: 'links_to', dst_slug: 'oven', dst_id: oven.id, resolved: true };
    expect(await links(bread.id)).toEqual({
      outgoing: [
        { ...edge, other: end(oven) },
        { edge_type: 'links_to', dst_slug: 'nowhere', dst_id: null, resolved: false, other: null },
      ],
      incoming: [],
    });
    expect(await links(oven.id)).toEqual({ outgoing: [], incoming: [{ ...edge, other: end(bread) }] });
    expect(await tenant.cp('GET', `${ENTRIES}/999999999/links`)).toMatchObject({ status: 404 });
  });

  // Guards: a link to a slug that nothing has waits for it, leads to the entry that gets it, and waits again when that
  // is deleted.
  test('resolve when their slug appears and not before', async () => {
    const { id } = await create('[[later]]');
    expect(await targets(id)).toEqual([['later', null]]);
    const later = await create('Here.', { slug: 'later' });
    expect(await targets(id)).toEqual([['later', later.id]]);
    await remove(later.id);
    expect(await targets(id)).toEqual([['later', null]]);
    const again = await create('Here again.', { slug: 'later' });
    expect(await targets(id)).toEqual([['later', again.id]]);
  });

  // Guards: links follow each change of the content, and are deleted with the entry.
  test('follow the content', async () => {
    const { id } = await create('[[one]] [[two]]');
    const change = (body: object) => confirmed(tenant, 'PATCH', `${ENTRIES}/${id}`, body);
    await change({ content: '[[two]] [[three]]' });
    expect(await targets(id)).toEqual([
      ['two', null],
      ['three', null],
    ]);
    await change({ description: 'no links [[here]]' });
    expect(await targets(id)).toHaveLength(2);
    await change({ content: 'none' });
    expect(await targets(id)).toEqual([]);
    await change({ content: '[[four]]' });
    await remove(id);
    expect(await service.runtime.db.rows(sql`select 1 from memory_edges where dst_slug = 'four'`)).toEqual([]);
  });

  // Guards: an entry may name itself, once.
  test('may lead back to where they are', async () => {
    const self = await create('[[self]] [[self|me]]', { slug: 'self' });
    expect(await links(self.id)).toMatchObject({
      outgoing: [{ dst_id: self.id, other: { id: self.id } }],
      incoming: [{ dst_id: self.id, other: { id: self.id } }],
    });
    expect(await remove(self.id)).toMatchObject({ status: 204 });
  });

  // Guards: a slug means an entry of the same workspace, whoever had it first.
  test('never lead into another workspace', async () => {
    const [one, two] = [await newTenant(), await newTenant()];
    await create('Of one.', { slug: 'plan' }, one);
    const ofTwo = await create('[[plan]]', {}, two);
    expect(await targets(ofTwo.id, two)).toEqual([['plan', null]]);
    const ofOne = await create('[[secret]]', {}, one);
    const secret = await create('Of two.', { slug: 'secret' }, two);
    expect(await targets(ofOne.id, one)).toEqual([['secret', null]]);
    expect((await links(secret.id, two)).incoming).toEqual([]);
    expect(await one.cp('GET', `${ENTRIES}/${secret.id}/links`)).toMatchObject({ status: 404 });
    expect(await graph('', one)).toMatchObject({ meta: { node_count: 2, edge_count: 0, dropped_dangling: 1 } });
  });
});

describe('memory.supersede', () => {
  // Guards: a superseding entry inherits every field that is not given, and both entries know each other.
  test('puts a new entry in the place of the old', async () => {
    const old = await create('Six o’clock.', {
      slug: 'hours',
      name: 'Hours',
      description: 'When',
      agent: 'writer',
      scope: 'personal',
      type: 'fact',
      source_attribution: 'the door',
      meta: { a: 1 },
      always_load: true,
    });
    const asking = await create('See [[hours]].');
    const { status, body } = await supersede(old.id, { content: 'Seven o’clock.' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      slug: 'hours',
      name: 'Hours',
      description: 'When',
      agent: 'writer',
      scope: 'personal',
      type: 'fact',
      content: 'Seven o’clock.',
      status: 'active',
      always_load: true,
      has_embedding: true,
      source_attribution: null,
      meta: null,
    });
    const before = (await tenant.cp('GET', `${ENTRIES}/${old.id}`)).body;
    expect(before).toMatchObject({ status: 'superseded', slug: null, content: 'Six o’clock.', meta: { a: 1 } });
    const edge = { edge_type: 'supersedes', dst_slug: null, dst_id: old.id, resolved: true };
    expect((await links(body.id)).outgoing).toMatchObject([{ ...edge, other: { id: old.id, status: 'superseded' } }]);
    expect((await links(old.id)).incoming).toMatchObject([{ ...edge, other: { id: body.id } }]);
    expect(await targets(asking.id)).toEqual([['hours', body.id]]);
    // And once more: each replaces the one before.
    expect(await supersede(body.id, { content: 'Eight o’clock.' })).toMatchObject({
      status: 201,
      body: { slug: 'hours' },
    });
    expect(await remove(old.id)).toMatchObject({ status: 204 });
    expect((await links(body.id)).outgoing).toEqual([]);
  });

  // Guards: given fields replace inherited ones, null included; the old entry then keeps its slug.
  test('takes what is given', async () => {
    const old = await create('Old.', { slug: 'keeps-it', name: 'Old', agent: 'writer' });
    const given = { content: '[[keeps-it]]', type: 'fact', slug: 'new-one', name: null, agent: null, scope: 'x' };
    const { body } = await supersede(old.id, given);
    expect(body).toMatchObject({ ...given, status: 'active' });
    expect((await tenant.cp('GET', `${ENTRIES}/${old.id}`)).body).toMatchObject({
      slug: 'keeps-it',
      status: 'superseded',
    });
    expect((await links(body.id)).outgoing).toMatchObject([
      { edge_type: 'links_to', dst_id: old.id },
      { edge_type: 'supersedes', dst_id: old.id },
    ]);
  });

  // Guards: a supersede that fails leaves nothing half done.
  test('refuses what cannot be superseded', async () => {
    const { id } = await create('Here.');
    const archived = await create('Kept.');
    await confirmed(tenant, 'PATCH', `${ENTRIES}/${archived.id}`, { status: 'archived' });
    await create('Has it.', { slug: 'has-it' });
    expect(await supersede(id, { content: ' ' })).toMatchObject({ status: 400, body: { detail: 'content required' } });
    expect(await supersede(id, {})).toMatchObject({ status: 400, body: { detail: 'content required' } });
    expect(await supersede(id, { content: 'x', type: 'skill' })).toMatchObject({ status: 400 });
    expect(await supersede(id, { content: 'x', slug: 'has-it' })).toMatchObject({
      status: 409,
      body: { detail: 'slug_taken' },
    });
    expect(await supersede(id, { content: 'x', slug: 'planning' })).toMatchObject({ status: 409 });
    expect(await supersede(999_999_999_999_999, { content: 'x' })).toMatchObject({ status: 404 });
    const detail = 'only an active entry can be superseded; this one is archived';
    expect(await supersede(archived.id, { content: 'x' })).toMatchObject({ status: 409, body: { detail } });
    expect((await tenant.cp('GET', `${ENTRIES}/${id}`)).body.status).toBe('active');
  });

  // Guards: of several simultaneous supersedes one wins, also against a deletion; no entry is replaced twice, and none
  // is lost.
  test('happens once', async () => {
    const racing = await newTenant();
    const { id } = await create('Raced.', { slug: 'raced' }, racing);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => supersede(id, { content: `No ${n}` }, racing)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const { body } = present(answers.find(({ status }) => status === 201));
    expect((await graph('?status=superseded', racing)).nodes).toMatchObject([{ id }]);

    const [superseded, removed] = await Promise.all([
      supersede(body.id, { content: 'Next.' }, racing),
      remove(body.id, racing),
    ]);
    expect([201, 404]).toContain(superseded.status);
    expect(removed.status).toBe(204);
    const { nodes } = await graph('', racing);
    expect(nodes).toHaveLength(superseded.status === 201 ? 1 : 0);
  });
});

describe('memory.graph', () => {
  // Guards: the graph has nodes by every filter, the edges between them, and a count of edges that were left out.
  test('shows what the filters let through', async () => {
    const drawer = await newTenant();
    const a = await create('[[b]] [[c]] [[nowhere]]', { slug: 'a', type: 'fact', agent: 'writer' }, drawer);
    const b = await create('[[a]]', { slug: 'b', type: 'pattern' }, drawer);
    const c = await create('[[a]]', { slug: 'c', agent: 'writer', description: 'third', always_load: true }, drawer);
    const whole = await graph('', drawer);
    expect(whole.nodes.map(({ id }: { id: number }) => id)).toEqual([c.id, b.id, a.id]);
    expect(whole.nodes[0]).toEqual({
      id: c.id,
      type: 'note',
      slug: 'c',
      name: null,
      description: 'third',
      agent: 'writer',
      scope: 'shared',
      status: 'active',
      always_load: true,
    });
    expect(whole.edges).toEqual([
      { source: a.id, target: b.id, dst_slug: 'b', edge_type: 'links_to' },
      { source: a.id, target: c.id, dst_slug: 'c', edge_type: 'links_to' },
      { source: b.id, target: a.id, dst_slug: 'a', edge_type: 'links_to' },
      { source: c.id, target: a.id, dst_slug: 'a', edge_type: 'links_to' },
    ]);
    expect(whole.meta).toEqual({ node_count: 3, edge_count: 4, dropped_dangling: 1, truncated: false });

    const meta = async (query: string) => (await graph(query, drawer)).meta;
    expect(await meta('?type=fact&type=pattern')).toMatchObject({ node_count: 2, edge_count: 2, dropped_dangling: 2 });
    expect(await meta('?type=fact')).toMatchObject({ node_count: 1, edge_count: 0, dropped_dangling: 3 });
    expect(await meta('?agent=writer')).toMatchObject({ node_count: 2, edge_count: 2, dropped_dangling: 2 });
    expect(await meta('?agent=writer&type=fact')).toMatchObject({ node_count: 1 });
    expect(await meta('?limit=2')).toEqual({ node_count: 2, edge_count: 0, dropped_dangling: 2, truncated: true });
    expect(await meta('?limit=3')).toMatchObject({ truncated: false });
    await confirmed(drawer, 'PATCH', `${ENTRIES}/${b.id}`, { status: 'archived' });
    expect(await meta('')).toMatchObject({ node_count: 2, edge_count: 2, dropped_dangling: 2 });
    expect((await graph('?status=archived', drawer)).nodes).toMatchObject([{ id: b.id, status: 'archived' }]);
    expect(await meta('?status=superseded')).toEqual({
      node_count: 0,
      edge_count: 0,
      dropped_dangling: 0,
      truncated: false,
    });
  });

  // Guards: bad filters are 400.
  test.each(['limit=0', 'limit=3001', 'status=gone', 'status=active&status=archived', 'type=a%00b', 'agent=a&agent=b'])(
    'refuses ?%s',
    async (query) => {
      expect(await tenant.cp('GET', `/v1/memory/graph?${query}`)).toMatchObject({ status: 400 });
    },
  );

  // Guards: a very large graph is cut off and says so.
  test('is bounded', async () => {
    const dense = await newTenant();
    const { customerId } = dense.caller;
    await service.runtime.db.rows(sql`
      with nodes as (
        insert into memory_entries (customer_id, type, slug, content)
        select ${customerId}, 'note', 'd' || n, 'dense' from generate_series(1, 150) n returning id, slug
      ) insert into memory_edges (customer_id, src_id, edge_type, dst_slug)
        select ${customerId}, a.id, 'links_to', b.slug from nodes a, nodes b`);
    await service.runtime.db.rows(sql`
      update memory_edges e set dst_id = n.id from memory_entries n
      where e.customer_id = ${customerId} and n.customer_id = ${customerId} and n.slug = e.dst_slug`);
    const { meta, edges } = await graph('', dense);
    expect(meta).toEqual({ node_count: 150, edge_count: 20_000, dropped_dangling: 0, truncated: true });
    expect(edges).toHaveLength(20_000);
  });
});

// Guards: simultaneous writers do not block each other for good, and none leaves a link that misses the entry of its
// slug.
test('stays whole under many writers', async () => {
  const { caller } = await newTenant();
  const { customerId } = caller;
  const { memory, stores } = service.services;
  const slugs = Array.from({ length: 6 }, (_, n) => `s${n}`);
  const content = slugs.map((slug) => `[[${slug}]]`).join(' ');
  const embedding = { model: PACKAGED.model, vector: Array<number>(512).fill(0) };
  const idOf = async (slug: string) => {
    const [row] = await service.runtime.db.rows<{ id: number }>(
      sql`select id from memory_entries where customer_id = ${customerId} and slug = ${slug}`,
    );
    return row?.id ?? 0;
  };
  const write = async (writer: number, turn: number) => {
    const slug = itemAt(slugs, (writer * 5 + turn) % slugs.length);
    const id = await idOf(slug);
    const next = await idOf(itemAt(slugs, (writer + turn) % slugs.length));
    const ways = [
      () => memory.create(customerId, { type: 'note', slug, content }),
      () =>
        stores.memory.deleteEntries(
          customerId,
          [...new Set([next, id])].filter((some) => some !== 0),
        ),
      () => stores.memory.supersedeEntry(customerId, id, { content, embedding }),
      () => stores.memory.updateEntry(customerId, id, { content }),
      () => memory.create(customerId, { type: 'note', slug, content }),
    ];
    await itemAt(ways, (writer + turn) % ways.length)().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
  };
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let turn = 0; turn < 12; turn += 1) await write(writer, turn);
    }),
  );
  const wrong = await service.runtime.db.rows(sql`
    select e.id from memory_edges e
    left join memory_entries n on n.customer_id = e.customer_id and n.slug = e.dst_slug
    where e.customer_id = ${customerId} and e.edge_type = 'links_to' and e.dst_id is distinct from n.id`);
  expect(wrong).toEqual([]);
  expect(await stores.memory.readStats(customerId)).not.toMatchObject({ total: 0 });
});
