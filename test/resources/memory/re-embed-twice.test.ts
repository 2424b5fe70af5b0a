/** Two processes that re-embed at once, on a real Postgres: the embedded one takes one connection at a time. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { setTimeout } from 'node:timers/promises';
import { createDatabase } from '../../../src/platform/db/client.ts';
import { reEmbed, requireVectorsOf } from '../../../src/resources/memory/re-embed.ts';
import { openNativePostgres } from '../../support/database/native-postgres.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';
import { isMissing } from '../../support/programs/missing.ts';

const native = await openNativePostgres();
const isWithout = isMissing('two that re-embed', typeof native === 'string' ? native : undefined);

// Guards: both end well; all entries have vectors of the new model, in one column with one index that is whole.
(isWithout ? test.skip : test)('do no harm', async () => {
  if (typeof native === 'string') return;
  const open = () => createDatabase({ url: native.url, poolSize: 1 });
  const [one, other] = [open(), open()];
  const { customerId } = await makeWorkspace(one, 'acc_twice');
  await one.rows(sql`
    insert into memory_entries (customer_id, type, content, embedding)
    select ${customerId}, 'note', 'note ' || n, array_fill(1, array[512])::vector from generate_series(1, 200) n`);
  for (const kind of ['first', 'second', 'third'].map((name) => ({ model: `openai:${name}`, dimensions: 4 }))) {
    const embed = async (texts: readonly string[]) => {
      await setTimeout(Math.random() * 5);
      return texts.map(({ length }) => [length, 3, 0, 4]);
    };
    const both = [one, other].map((db) => reEmbed(db, { ...kind, reads: () => true, embed }));
    expect(await Promise.all(both)).toContain(true);
    await requireVectorsOf(other, kind);
    expect(await one.rows(sql`select 1 from memory_entries where embedding is null`)).toEqual([]);
    const indexes = await one.rows(sql`
      select c.relname as name, indisvalid as "isWhole" from pg_index join pg_class c on c.oid = indexrelid
      where indrelid = 'memory_entries'::regclass and c.relname like '%by_embedding%'`);
    expect(indexes).toEqual([{ name: 'memory_entries_by_embedding', isWhole: true }]);
  }
  await one.close();
  await other.close();
  await native.close();
});
