/** Queries on chat threads. What is said in them are runs, which are only read here. */
import { and, count, desc, eq, sql } from 'drizzle-orm';
import { first, present } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { runs } from '../runs/table.ts';
import { conversationOf } from '../runs/model.ts';
import { OPEN_RUN } from '../runs/store/statuses.ts';
import { countRows } from '../tallies/store.ts';
import type { MessagePage, MessageRow } from './contract.ts';
import { chatThreads } from './table.ts';

export type ChatStore = ReturnType<typeof createChatStore>;
export type ThreadRow = typeof chatThreads.$inferSelect;

const threadIs = (customerId: string, id: string) =>
  and(eq(chatThreads.customerId, customerId), eq(chatThreads.id, id));
const saidIn = (customerId: string, id: string) =>
  and(eq(runs.customerId, customerId), eq(runs.conversation, present(conversationOf(id))));

export const createChatStore = (db: Database) => ({
  async list(customerId: string, { limit, offset }: { limit: number; offset: number }) {
    const matching = eq(chatThreads.customerId, customerId);
    const rows = await db.orm
      .select()
      .from(chatThreads)
      .where(matching)
      .orderBy(desc(chatThreads.updatedAt), desc(chatThreads.id))
      .limit(limit)
      .offset(offset);
    return { rows, total: await countRows(db, { list: 'chat_threads', customerId }) };
  },

  async find(customerId: string, id: string): Promise<ThreadRow | undefined> {
    const [row] = await db.orm.select().from(chatThreads).where(threadIs(customerId, id));
    return row;
  },

  async insert(row: Pick<ThreadRow, 'id' | 'customerId' | 'title' | 'agentSlug' | 'createdBy'>): Promise<ThreadRow> {
    return first(await db.orm.insert(chatThreads).values(row).returning());
  },

  async change(
    customerId: string,
    id: string,
    change: Partial<Pick<ThreadRow, 'title' | 'agentSlug'>>,
  ): Promise<ThreadRow | undefined> {
    const [row] = await db.orm.update(chatThreads).set(change).where(threadIs(customerId, id)).returning();
    return row;
  },

  /** Notes that something was said. @param title the title from now on, where the thread has none */
  async touch(customerId: string, id: string, title: string): Promise<void> {
    await db.orm
      .update(chatThreads)
      .set({ title: sql`coalesce(${chatThreads.title}, ${title})`, updatedAt: sql`now()` })
      .where(threadIs(customerId, id));
  },

  /** @returns whether the thread existed */
  async delete(customerId: string, id: string): Promise<boolean> {
    const gone = await db.orm.delete(chatThreads).where(threadIs(customerId, id)).returning({ id: chatThreads.id });
    return gone.length > 0;
  },

  /** Each run gives two messages: what was said, and the answer that exists or will. */
  async listMessages(customerId: string, id: string, { limit, offset, order }: MessagePage) {
    const direction = sql.raw(order);
    const data = await db.rows<MessageRow>(sql`
      select ${runs.id} || ':' || said.role as id, ${runs.id} as run_id, said.role, ${runs.agent} as agent,
        said.content, ${runs.status} as status, said.error, said.at as created_at
      from ${runs}, lateral (values
        (1, 'user', ${runs.prompt}, null, ${runs.createdAt}),
        (2, 'assistant', ${runs.output}, ${runs.error}, ${runs.completedAt})) said(n, role, content, error, at)
      where ${saidIn(customerId, id)}
      order by ${runs.seq} ${direction}, said.n ${direction} limit ${limit} offset ${offset}`);
    const totals = first(await db.orm.select({ total: count() }).from(runs).where(saidIn(customerId, id)));
    return { data, total: totals.total * 2 };
  },

  /** @returns runs, the latest first, so that as a rule none begins because the one before it was taken away */
  async listInFlight(customerId: string, id: string): Promise<string[]> {
    const rows = await db.orm
      .select({ id: runs.id })
      .from(runs)
      .where(and(saidIn(customerId, id), sql`${runs.status} in ${OPEN_RUN}`))
      .orderBy(desc(runs.seq));
    return rows.map((row) => row.id);
  },
});
