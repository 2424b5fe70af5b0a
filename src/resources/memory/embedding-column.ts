/**
 * The column of vectors. Whoever changes the model of a deployment (store/vectors.ts) cannot restart all of its processes
 * in the same moment, so each statement looks whether the column is of the model that made the vector at hand.
 */
import { sql, type SQL } from 'drizzle-orm';
import { customType } from 'drizzle-orm/pg-core';
import type { Embedding } from '../../platform/models/types.ts';

/** @returns whether the stored vectors are of this model, as the statement finds it once it has its lock on the table */
export const isColumnOf = ({ model, dimensions }: { model: string; dimensions: number }): SQL => sql`
  exists (select 1 from pg_attribute
    where attrelid = 'memory_entries'::regclass and attname = 'embedding' and not attisdropped
      and atttypmod = ${dimensions}::int and coalesce(col_description(attrelid, attnum), '') = ${model})`;

export const isColumnOfVector = ({ model, vector }: Embedding): SQL => isColumnOf({ model, dimensions: vector.length });

/** The text has no more digits than the database keeps, as reading them is a good part of a short search. */
export const vectorText = ({ vector }: Embedding): string => `[${vector.map((value) => value.toPrecision(8)).join()}]`;

/** A vector of another model than the column's is not written: the entry has none until it is embedded again. */
export const embeddingColumn = customType<{ data: Embedding; config: { dimensions: number }; configRequired: true }>({
  dataType: ({ dimensions }) => `vector(${dimensions})`,
  toDriver: (value) => sql`case when ${isColumnOfVector(value)} then ${JSON.stringify(value.vector)}::vector end`,
});
