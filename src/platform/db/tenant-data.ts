/**
 * What each table of a workspace's rows declares, beside the code of its resource: what becomes of them when the workspace
 * ends, and what of them goes into an archive. `test/resources/workspaces/lives.test.ts` and
 * `test/resources/exports/contents.test.ts` fail for a table or column without a declaration, so that nothing new is
 * forgotten, and nothing new that is secret goes out by being new.
 */
import { sql, type SQL } from 'drizzle-orm';

/**
 * When rows go: with the destruction; or only when somebody makes the workspace again, as until then an archive can be read:
 * before it, in as many steps as there is much, and in the transaction that makes it.
 */
export type RowsEnd = 'destroyed' | 'before made again' | 'made again';

type Fate =
  | {
      goes: RowsEnd;
      /** One statement deletes so many rows; fewer where much hangs on each. */
      batch?: number;
      /** Selects other rows than "all with this `customer_id`". @returns ids or places of rows that went */
      statement?: (customerId: string, limit: number) => SQL;
    }
  /** With the row that it refers to: the reference says `on delete cascade`, or is part of that one's statement. */
  | { goesWith: string }
  /** The rows stay, for this reason: nobody of the new life is shown them, or they say nothing of the one before. */
  | { stays: string };

/** Whose bytes lie in the file store: `files/<table>/<row>` in the archive. */
interface FileOf {
  /** This column has the place in the file store. */
  key: string;
  /** This column names the row, and so the file. */
  row: string;
}

export interface Brought {
  /** These go out, in this order. */
  columns: string;
  /** These stay, each for a reason. */
  without: Readonly<Record<string, string>>;
  /** The rows of a workspace, as `t`; all with its `customer_id` where it is not said. */
  from?: (customerId: string) => SQL;
  file?: FileOf;
  /** Rows are written in the order of these columns, by which an index has the rows of a workspace. */
  order?: string;
}

type Content = Brought | { left: string };

/** A step of a destruction: it ends what rows open, what they set off by the clock, and what they name in the file store. */
export type DestructionStep = 'keys' | 'triggers' | 'files';

interface TableData {
  end: Fate;
  archive: Content;
  /** The rows stay, and are changed by this statement at this step of the destruction. */
  atDestruction?: { step: DestructionStep; statement: (customerId: string) => SQL };
  /** Selects `kind`, `name` and `field` of each secret that does not go into an archive, and has to be set again elsewhere. */
  secrets?: (customerId: string) => SQL;
}

/** Tables by name: what is referred to stands before what refers to it. */
export type TenantData = Readonly<Record<string, TableData>>;

export const STORAGE_KEY = 'a key in the file storage of this deployment';
export const SECRET = 'a secret, or what one can be guessed by';
export const SAME_TENANT = { customer_id: 'it is the same in every row, and the manifest says it' };

/** Selects the rows `t` of a table without a `customer_id`, by the rows `p` that they refer to. */
export const rowsOfParent = (parent: string, table: string, on: SQL) => (customerId: string) => sql`
  ${sql.identifier(parent)} p join ${sql.identifier(table)} t on ${on} where p.customer_id = ${customerId}`;
