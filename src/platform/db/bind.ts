/**
 * Queries are functions that take the database as their first argument; a store is made by giving it to all of them.
 */
import type { Database } from './client.ts';

type Query = (db: Database, ...args: never[]) => unknown;
export type Bound<Queries> = {
  [Name in keyof Queries]: Queries[Name] extends (db: Database, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

export const bindQueries = <Queries extends Record<string, Query>>(db: Database, queries: Queries): Bound<Queries> =>
  Object.fromEntries(
    Object.entries(queries).map(([name, query]) => [name, (query as (...args: unknown[]) => unknown).bind(null, db)]),
  ) as Bound<Queries>;
