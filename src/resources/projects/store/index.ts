/** What the service asks of the record of projects, bound to a database. */
import type { Database } from '../../../platform/db/client.ts';
import { keepCommandTexts } from './command-texts.ts';
import { createProject, updateProject, withdrawProject } from './create.ts';
import * as queries from './queries.ts';

const QUERIES = { keepCommandTexts, createProject, updateProject, withdrawProject, ...queries };

type Bound<T> = T extends (db: Database, ...args: infer Args) => infer Result ? (...args: Args) => Result : never;
export type ProjectStore = { [Name in keyof typeof QUERIES]: Bound<(typeof QUERIES)[Name]> };

export const createProjectStore = (db: Database): ProjectStore =>
  Object.fromEntries(
    Object.entries(QUERIES).map(([name, query]) => [
      name,
      (query as (db: Database, ...args: unknown[]) => unknown).bind(null, db),
    ]),
  ) as ProjectStore;
