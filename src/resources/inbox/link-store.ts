/** Action links, as they are kept: the digest of a token, and what it is bound to. */
import { sql } from 'drizzle-orm';
import type { Role } from '../../platform/core/rights.ts';
import type { Database } from '../../platform/db/client.ts';
import { workspaceOf } from '../workspaces/store/fragments.ts';
import { memberOf } from '../members/store/fragments.ts';

export type LinkStore = ReturnType<typeof createLinkStore>;

export interface NewLink {
  customerId: string;
  waitId: string;
  /** The revision of the wait that the recipient is told of. */
  revision: number;
  /** An e-mail address. */
  recipient: string;
}

export interface InboxLinkRow extends NewLink {
  id: string;
  workspaceId: string;
  /** Of the recipient; null of one who is no member. */
  role: Role | null;
  isUsed: boolean;
}

export const createLinkStore = (db: Database) => ({
  /** @returns false where the wait is gone or settled: nothing is linked to any more */
  async insert({ customerId, waitId, revision, recipient }: NewLink, tokenHash: string, ttlMs: number) {
    const made = await db.rows(sql`
      insert into action_links (customer_id, wait_id, revision, recipient, token_hash, expires_at)
      select w.customer_id, w.id, ${revision}::int, lower(${recipient}), ${tokenHash}, now() + ${ttlMs} * interval '1 ms'
      from waits w where w.id = ${waitId}::uuid and w.customer_id = ${customerId} and w.settled_at is null
      returning id`);
    return made.length > 0;
  },

  /**
   * Finds a link that is good: neither expired nor withdrawn, in an open workspace, and its recipient is a member or somebody
   * whom the gate names by address. Former members and viewers have no link, whoever names them: its page shows addresses
   * that take answers.
   */
  async find(tokenHash: string): Promise<InboxLinkRow | undefined> {
    const [row] = await db.rows<InboxLinkRow>(sql`
      select l.id, l.customer_id as "customerId", o.identity_workspace_id as "workspaceId", l.wait_id as "waitId", l.revision,
        l.recipient, m.role, l.used_at is not null as "isUsed"
      from action_links l
        join ${workspaceOf(sql`l.customer_id`)} o on o.open_status <> 'archived'
        join waits w on w.id = l.wait_id and w.customer_id = l.customer_id
        left join subtasks s on s.id = w.subtask_id and s.customer_id = w.customer_id
        left join ${memberOf(sql`l.customer_id`, sql`l.recipient`)} m on true
      where l.token_hash = ${tokenHash} and l.withdrawn_at is null and l.expires_at > now()
        and has_say_by_link(l.customer_id, s.gate_config, w.escalated_at is not null, l.recipient)`);
    return row;
  },

  /** Good once: what it was for has been said. */
  async use({ customerId, id }: Pick<InboxLinkRow, 'customerId' | 'id'>): Promise<void> {
    await db.rows(sql`
      update action_links set used_at = now() where id = ${id}::uuid and customer_id = ${customerId} and used_at is null`);
  },

  /** All of one wait. */
  async withdraw(customerId: string, waitId: string): Promise<void> {
    await db.rows(sql`
      update action_links set withdrawn_at = now()
      where wait_id = ${waitId}::uuid and customer_id = ${customerId} and withdrawn_at is null`);
  },
});
