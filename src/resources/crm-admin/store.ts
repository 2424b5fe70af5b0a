/** Queries on the operator's notes. They are about workspaces of every state: an archived one keeps its notes. */
import { and, count, desc, eq, ilike, or, sql } from 'drizzle-orm';
import { newUuid } from '../../platform/core/ids.ts';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { containing } from '../customers/model.ts';
import { workspaces } from '../workspaces/table.ts';
import type { CrmStatus } from './model.ts';
import { crmCustomers, crmNotes } from './table.ts';

export type CrmStore = ReturnType<typeof createCrmStore>;

export interface CrmPage {
  limit: number;
  offset: number;
}

export interface CrmFilter {
  status?: CrmStatus | undefined;
  /** A part of the customer's id. */
  q?: string | undefined;
}

interface Note {
  id: string;
  customer_id: string;
  author: string;
  text: string;
  created_at: string;
}

const noteColumns = {
  id: crmNotes.id,
  customer_id: crmNotes.customerId,
  author: crmNotes.author,
  text: crmNotes.text,
  created_at: crmNotes.createdAt,
};

const columns = {
  customer_id: workspaces.customerId,
  identity_workspace_id: workspaces.identityWorkspaceId,
  plan: workspaces.plan,
  workspace_status: workspaces.status,
  status: crmCustomers.status,
  updated_by: crmCustomers.updatedBy,
  updated_at: crmCustomers.updatedAt,
  note_count: sql<number>`(select count(*)::int from crm_notes n where n.customer_id = ${workspaces.customerId})`,
  last_note: sql<Note | null>`(
    select to_jsonb(n) from crm_notes n where n.customer_id = ${workspaces.customerId} order by n.id desc limit 1)`,
  created_at: workspaces.createdAt,
};

export const createCrmStore = (db: Database) => {
  const customers = () =>
    db.orm.select(columns).from(workspaces).leftJoin(crmCustomers, eq(crmCustomers.customerId, workspaces.customerId));

  return {
    async list({ status, q }: CrmFilter, { limit, offset }: CrmPage) {
      const where = and(
        status === undefined ? undefined : eq(crmCustomers.status, status),
        q === undefined
          ? undefined
          : or(ilike(workspaces.customerId, containing(q)), ilike(workspaces.identityWorkspaceId, containing(q))),
      );
      const rows = await customers()
        .where(where)
        .orderBy(desc(workspaces.createdAt), desc(workspaces.customerId))
        .limit(limit)
        .offset(offset);
      const counted = first(
        await db.orm
          .select({ total: count() })
          .from(workspaces)
          .leftJoin(crmCustomers, eq(crmCustomers.customerId, workspaces.customerId))
          .where(where),
      );
      return { rows, total: counted.total };
    },

    async find(customerId: string) {
      const [row] = await customers().where(eq(workspaces.customerId, customerId));
      return row;
    },

    async setStatus(customerId: string, status: CrmStatus, updatedBy: string): Promise<void> {
      await db.orm
        .insert(crmCustomers)
        .values({ customerId, status, updatedBy })
        .onConflictDoUpdate({
          target: crmCustomers.customerId,
          set: { status, updatedBy, updatedAt: sql`now()` },
        });
    },

    notes: (customerId: string, { limit, offset }: CrmPage) =>
      db.orm
        .select(noteColumns)
        .from(crmNotes)
        .where(eq(crmNotes.customerId, customerId))
        .orderBy(desc(crmNotes.id))
        .limit(limit)
        .offset(offset),

    async insertNote(customerId: string, text: string, author: string) {
      return first(
        await db.orm.insert(crmNotes).values({ id: newUuid(), customerId, text, author }).returning(noteColumns),
      );
    },

    /** @returns false when the customer has no such note */
    async deleteNote(customerId: string, id: string): Promise<boolean> {
      const gone = await db.orm
        .delete(crmNotes)
        .where(and(eq(crmNotes.id, id), eq(crmNotes.customerId, customerId)))
        .returning({ id: crmNotes.id });
      return gone.length > 0;
    },
  };
};
