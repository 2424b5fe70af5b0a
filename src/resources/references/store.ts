/** Finds what of a workspace names an agent, a tool or a skill. Every query takes the workspace. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import type { Naming, UsedKind, UserKind } from './model.ts';

export type ReferenceStore = ReturnType<typeof createReferenceStore>;

export interface User {
  kind: UserKind;
  name: string;
}

/** @param naming says of each resource how its rows name things */
export const createReferenceStore = (db: Database, naming: readonly Naming[]) => ({
  /** @returns the first of what names it, and how many there are */
  async usersOf(customerId: string, kind: UsedKind, slug: string, limit: number): Promise<[User[], total: number]> {
    const users = naming.flatMap((each) => each[kind]?.(customerId, slug) ?? []);
    const rows = await db.rows<User & { total: number }>(sql`
      select kind, name, count(*) over ()::int as total from (${sql.join(users, sql` union all `)}) users
      order by kind, name limit ${limit}`);
    return [rows.map(({ kind: of, name }) => ({ kind: of, name })), rows[0]?.total ?? 0];
  },
});
