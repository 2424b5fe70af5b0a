/** Commands that are made from declarations: what a flag says is read as the schema of its field has it. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { columnsOf } from '../../src/cli/columns.ts';
import { converted, optionOf } from '../../src/cli/schemas.ts';

const body = z
  .object({
    count: z.int().nullable(),
    tags: z.array(z.string()),
    percents: z.array(z.int()).optional(),
    thinks: z.boolean().nullable(),
    level: z.enum(['low', 'high']).nullable(),
    about: z.string().nullable(),
    config: z.record(z.string(), z.unknown()).nullish(),
  })
  .partial()
  .default({});
const FLAGS = {
  count: '--count <n> | how many, or auto',
  tags: '--tags <names> | with commas between',
  percents: '--percents <n> | with commas between, or `none`',
  thinks: '--thinks <mode> | first, or auto',
  level: '--level <level> | how hard',
  about: '--about <text> | what it is about',
  config: '--config <json> | kept with it',
};

// Guards: words become numbers, lists, booleans, JSON and null as the endpoint has them; a text stays as it is written.
test.each([
  [{ count: '3' }, { count: 3 }],
  [{ count: 'auto' }, { count: null }],
  [{ tags: 'a, b,' }, { tags: ['a', 'b'] }],
  [{ percents: '50,80' }, { percents: [50, 80] }],
  [{ percents: 'none' }, { percents: [] }],
  [{ thinks: 'on' }, { thinks: true }],
  [{ thinks: 'auto' }, { thinks: null }],
  [{ about: 'none' }, { about: 'none' }],
  [{ config: '{"a":1}' }, { config: { a: 1 } }],
  [{ other: '3', count: undefined }, { other: '3' }],
])('%j is sent as %j', async (given, sent) => {
  expect(await converted({ body }, given, FLAGS)).toEqual(sent);
});

// Guards: choices are those of the schema, and `auto` is one only if the flag says so.
test('choices', () => {
  const { thinks, level, tags } = body.unwrap().shape;
  expect(optionOf(FLAGS.thinks, thinks).argChoices).toEqual(['on', 'off', 'auto']);
  expect(optionOf(FLAGS.level, level).argChoices).toEqual(['low', 'high']);
  expect(optionOf(FLAGS.tags, tags).argChoices).toBeUndefined();
});

// Guards against: a column of a field that the endpoint does not answer.
test('columns', () => {
  const reply = z.object({ data: z.array(z.object({ id: z.int(), made_at: z.string() })) });
  const [id, made] = columnsOf<unknown>(reply, { columns: 'ID> id, MADE (UTC)? made_at' });
  expect(id).toMatchObject({ title: 'ID', align: 'right' });
  expect(made).toMatchObject({ title: 'MADE (UTC)', isWide: true });
  expect(made?.value({ made_at: '2026-11-28T03:00:00.000Z' })).toBe('2026-11-28 03:00:00');
  expect(() => columnsOf<unknown>(reply, { columns: 'ID id, NAME name' })).toThrow('NAME name');
});
