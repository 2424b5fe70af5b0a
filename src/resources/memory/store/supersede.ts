/** Puts a new entry in the place of an old one, which stays for the record. */
import { and, eq, sql } from 'drizzle-orm';
import { found, type Database } from '../../../platform/db/client.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { memoryEdges, memoryEntries } from '../table.ts';
import { lockGraph } from './edges.ts';
import { insertEntry, type EntryRow, type NewEntry } from './entries.ts';

/** A field that is undefined is inherited. */
export type Successor = Pick<NewEntry, 'content' | 'embedding'> &
  Partial<Pick<NewEntry, 'type' | 'slug' | 'name' | 'description' | 'agent' | 'scope'>>;

/**
 * Of two at once the first wins. A slug that the new entry inherits is from then on its own alone, and links that name
 * it lead there.
 * @throws Problem not_found, entry_not_active, slug_taken
 */
export const supersedeEntry = (
  db: Database,
  customerId: string,
  id: number,
  { content, embedding, ...given }: Successor,
): Promise<EntryRow> =>
  db.transaction(async () => {
    await lockGraph(db, customerId);
    const [row] = await db.orm
      .select()
      .from(memoryEntries)
      .where(and(eq(memoryEntries.customerId, customerId), sql`${memoryEntries.id} = ${id}::bigint`))
      .for('update');
    const old = found(row);
    if (old.status !== 'active') throw notActive(old);
    const { type, slug, name, description, agent, scope, alwaysLoad } = old;
    const inherited = { type, slug, name, description, agent, scope, alwaysLoad };
    const entry: NewEntry = { ...inherited, ...withoutUndefined(given), content, embedding };
    await db.orm
      .update(memoryEntries)
      .set({ status: 'superseded', slug: entry.slug === old.slug ? null : old.slug, updatedAt: sql`now()` })
      .where(eq(memoryEntries.id, old.id));
    const successor = await insertEntry(db, customerId, entry);
    await db.orm.insert(memoryEdges).values({ customerId, srcId: successor.id, edgeType: 'supersedes', dstId: old.id });
    return successor;
  });

export const notActive = ({ status }: Pick<EntryRow, 'status'>): Problem =>
  new Problem('entry_not_active', `only an active entry can be superseded; this one is ${status}`);

const withoutUndefined = <T extends object>(given: T): Partial<T> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
