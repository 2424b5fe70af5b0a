/** What is brought of an archive, beside what is in one. */
import { expect, test } from '@jest/globals';
import { BROUGHT } from '../../../src/resources/exports/store/contents.ts';
import { BROUGHT_TABLES, NOT_BROUGHT } from '../../../src/resources/imports/bring/tables.ts';

// Guards against: a table that goes out and is silently not brought.
test('each table of an archive is brought, or it is said why not', () => {
  const said = [...Object.keys(BROUGHT_TABLES), ...Object.keys(NOT_BROUGHT)];
  expect(said.sort()).toEqual(BROUGHT.map(({ table }) => table).sort());
});

// Guards: what is referred to is brought before what refers to it.
test('what a row belongs to comes before it', () => {
  const order = BROUGHT.map(({ table }) => table);
  for (const [table, { parent }] of Object.entries(BROUGHT_TABLES)) {
    if (parent) expect({ table, at: order.indexOf(parent.table) < order.indexOf(table) }).toEqual({ table, at: true });
  }
});

// Guards: columns that are named are columns of the archive, or the place of a file.
test('each column that is named is one of an archive', () => {
  for (const [table, { ids, own, parent }] of Object.entries(BROUGHT_TABLES)) {
    const columns = BROUGHT.find((each) => each.table === table)?.columns.split(' ') ?? [];
    const known = [...columns, 'file_key', 'start_due_at'];
    for (const name of [...Object.keys(ids), ...Object.keys(own), ...(parent ? [parent.column] : [])]) {
      expect({ table, name, isKnown: known.includes(name) }).toEqual({ table, name, isKnown: true });
    }
  }
});
