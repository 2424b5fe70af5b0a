/** A process that still embeds with the model before, while the stored vectors are of another one already. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { PACKAGED } from '../../../src/platform/models/embed-packaged.ts';
import { present } from '../../../src/platform/core/present.ts';
import { mendVectors, reEmbed } from '../../../src/resources/memory/re-embed.ts';
import { eventsOf, tool } from '../../support/fixtures/runs.ts';
import { standInForEmbeddings } from '../../support/service/embeddings.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const ENTRIES = '/v1/memory/entries';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startTestService();
  standInForEmbeddings(service);
  tenant = await service.tenant('acc_two_embedders');
});
afterAll(() => service?.close());

/** Another model, whose vectors are others than those of the stand-in, and yet near to them. */
const embedderOf = (model: string, dimensions: number) => ({
  model,
  dimensions,
  reads: () => true,
  embed: async (texts: readonly string[]) =>
    texts.map(() => Array.from({ length: dimensions }, (_, i) => (i < 2 ? Math.SQRT1_2 : 0))),
});
const remember = async (content: string) => (await tenant.cp('POST', ENTRIES, { type: 'fact', content })).body;
const search = async (q: string) => (await tenant.cp('GET', `${ENTRIES}?q=${encodeURIComponent(q)}`)).body;
/** @returns what a run with such a prompt is reminded of */
async function recalled(prompt: string): Promise<unknown> {
  const { run_id } = await tenant.run({ agent: 'assistant', prompt });
  const loaded = (await eventsOf(tenant, run_id)).find(({ event_type }) => event_type === 'context_loaded');
  return present(loaded).payload.memories;
}
/** @returns the first two numbers of each vector that is stored */
const stored = async () =>
  (
    await service.runtime.db.rows<{ vector: string | null }>(
      sql`select embedding::text as vector from memory_entries order by id`,
    )
  ).map(({ vector }) => vector?.slice(1, 4) ?? null);

const [OLD, NEW] = ['1,0', '0.7'];

// Guards against: vectors of two models in one column, and a question that is compared with those of another model. With as
// many numbers as before nothing in the database would refuse either.
test.each([
  ['as many numbers', PACKAGED.dimensions],
  ['fewer numbers', 4],
])('a process of the model before mixes nothing into vectors of %s', async (_, dimensions) => {
  const { db } = service.runtime;
  const { embedding } = service.services.models;
  const before = { ...embedding };
  await db.rows(sql`delete from memory_entries`);
  await reEmbed(db, embedderOf(PACKAGED.model, PACKAGED.dimensions));
  const known = await remember('The harbour office opens at seven.');
  expect([await stored(), await recalled('When does it open?')]).toEqual([[OLD], [known.id]]);

  const next = embedderOf(`next-of-${dimensions}`, dimensions);
  expect(await reEmbed(db, next)).toBe(true);
  const written = await remember('The ferry leaves at nine.');
  expect(written.has_embedding).toBe(false);
  const note = await tenant.run({
    agent: 'assistant',
    prompt: tool('memory_write', { type: 'fact', content: 'The pilot is called Ada.' }),
  });
  expect(note.status).toBe('succeeded');
  expect(await stored()).toEqual([NEW, null, null]);
  expect(await search('ferry')).toMatchObject({ meta: { by: 'words' }, data: [{ id: written.id }] });
  expect(await recalled('When does it open?')).toEqual([]);

  // As after a restart with the settings of the new model, and one more pass.
  expect(await mendVectors(db, next)).toBe(2);
  expect(await mendVectors(db, next)).toBe(0);
  expect(await stored()).toEqual([NEW, NEW, NEW]);
  Object.assign(embedding, { model: next.model, dimensions, embed: next.embed });
  service.services.models.embed = next.embed;
  expect((await search('boats')).meta.by).toBe('meaning');
  expect(await recalled('When does it open?')).toHaveLength(3);
  Object.assign(embedding, before);
  standInForEmbeddings(service);
});

// Guards against: noise in runs: vectors that another model made of texts that this one cannot read.
test('a vector of a text that the model cannot read is neither recalled nor found, and is taken away', async () => {
  const { db } = service.runtime;
  await db.rows(sql`delete from memory_entries`);
  await reEmbed(db, embedderOf(PACKAGED.model, PACKAGED.dimensions));
  const known = await remember('The harbour office opens at seven.');
  const noise = await remember('停车场每天晚上八点关门。');
  await db.rows(sql`
    update memory_entries set embedding = (select embedding from memory_entries where id = ${known.id})
    where id = ${noise.id}`);
  expect(await recalled('When does it open?')).toEqual([known.id]);
  expect((await search('office')).data).toMatchObject([{ id: known.id }]);
  expect(
    await mendVectors(db, { ...embedderOf(PACKAGED.model, PACKAGED.dimensions), ...service.services.models.embedding }),
  ).toBe(1);
  expect(await stored()).toEqual([OLD, null]);
});
