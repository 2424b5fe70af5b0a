/**
 * Who belongs to a workspace. Changes of one workspace's members wait for each other on its row, so that of two owners
 * who leave at once one stays; each cuts off the sessions that it makes untrue. Queries that look up by a mail address
 * name no workspace, because they ask in which workspaces the address is a member.
 */
import { and, asc, count, eq, inArray, ne, sql } from 'drizzle-orm';
import { newUuid } from '../../../platform/core/ids.ts';
import { first } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { isOwner, SAID_ROLES, type Role } from '../../../platform/core/rights.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { openStatus } from '../../workspaces/store/caps.ts';
import { workspaces } from '../../workspaces/table.ts';
import { formerMembers, memberSubjects, workspaceMembers } from '../table.ts';

export type MemberStore = ReturnType<typeof createMemberStore>;

/** A workspace that an address may sign in to. */
export interface Membership {
  workspaceId: string;
  customerId: string;
  role: Role;
}

/** Who shows an access token of the identity provider. */
interface Bearer {
  /** In lower case. */
  address: string | null | undefined;
  isConfirmed: boolean;
  /** As records name it. */
  subject: string;
}

type IdentityMembership = Omit<Membership, 'role'> & {
  /** By the confirmed address; null says that there is none, or that it is no member. */
  role: Role | null;
  /** The address that the subject was last seen with in this workspace; null: with none. */
  boundTo: string | null;
  /** What that address is by now; null: no member. */
  roleBySubject: Role | null;
  /** The member was removed and not taken in again, by either. */
  wasRemoved: boolean;
  /** The workspace is archived, or is being taken down. */
  isArchived: boolean;
};

const MEMBER = {
  id: workspaceMembers.id,
  email: workspaceMembers.email,
  role: workspaceMembers.role,
  invited_by: workspaceMembers.invitedBy,
  last_login_at: workspaceMembers.lastLoginAt,
  created_at: workspaceMembers.createdAt,
};

interface EndedSessions {
  /** Ends the sessions of the person in the workspace. */
  cutOff(customerId: string, sub: string): Promise<unknown>;
}

/** Revokes what a person made that speaks for them, in the transaction that removes them. @param email in lower case */
export type Revocation = (db: Database, customerId: string, email: string) => Promise<unknown>;

export const createMemberStore = (db: Database, { cutOff }: EndedSessions, revocations: readonly Revocation[]) => {
  const owned = (customerId: string, id: string) =>
    // The id is compared as text, so that what is no id at all is simply unknown.
    and(eq(workspaceMembers.customerId, customerId), sql`${workspaceMembers.id}::text = ${id}`);

  const one = async (customerId: string, id: string) =>
    found((await db.orm.select(MEMBER).from(workspaceMembers).where(owned(customerId, id)))[0]);

  /** @throws Problem not_found */
  const alone = <T>(customerId: string, change: (status: string) => Promise<T>): Promise<T> =>
    db.transaction(async () => {
      const locked = db.orm.select({ status: openStatus }).from(workspaces);
      const [row] = await locked.where(eq(workspaces.customerId, customerId)).for('update');
      return change(found(row).status);
    });

  async function requireAnotherOwner(customerId: string): Promise<void> {
    const owners = and(eq(workspaceMembers.customerId, customerId), eq(workspaceMembers.role, 'owner'));
    if ((await db.orm.$count(workspaceMembers, owners)) < 2) throw new Problem('last_owner');
  }

  return {
    /** @returns the slug of a workspace @throws Problem not_found */
    async customerOf(workspaceId: string): Promise<string> {
      const [row] = await db.orm
        .select({ customerId: workspaces.customerId })
        .from(workspaces)
        .where(eq(workspaces.identityWorkspaceId, workspaceId));
      return found(row).customerId;
    },

    async list(customerId: string) {
      const data = await db.orm
        .select(MEMBER)
        .from(workspaceMembers)
        .where(eq(workspaceMembers.customerId, customerId))
        .orderBy(asc(workspaceMembers.id));
      return { data, meta: { total: data.length } };
    },

    /** @returns mail addresses */
    async listOwners(customerId: string): Promise<string[]> {
      const rows = await db.orm
        .select({ email: workspaceMembers.email })
        .from(workspaceMembers)
        .where(and(eq(workspaceMembers.customerId, customerId), eq(workspaceMembers.role, 'owner')));
      return rows.map(({ email }) => email);
    },

    /** @throws Problem already_exists, not_found, workspace_archived */
    add: (customerId: string, member: { email: string; role: Role; invitedBy: string }) =>
      alone(customerId, async (status) => {
        if (status === 'archived') throw new Problem('workspace_archived');
        const [added] = await db.orm
          .insert(workspaceMembers)
          .values({ ...member, id: newUuid(), customerId })
          .onConflictDoNothing()
          .returning(MEMBER);
        if (!added) throw new Problem('already_exists');
        await db.orm
          .delete(formerMembers)
          .where(and(eq(formerMembers.customerId, customerId), eq(formerMembers.email, member.email)));
        return added;
      }),

    /**
     * @param mayTouchOwners says whether the caller is an owner: nobody else makes, demotes or removes one
     * @throws Problem not_found, owner_required, last_owner
     */
    setRole: (customerId: string, id: string, role: Role, mayTouchOwners: boolean) =>
      alone(customerId, async () => {
        const member = await one(customerId, id);
        if (!mayTouchOwners && (isOwner(member.role) || isOwner(role))) throw new Problem('owner_required');
        if (member.role === role) return member;
        if (isOwner(member.role)) await requireAnotherOwner(customerId);
        const [changed] = await db.orm
          .update(workspaceMembers)
          .set({ role })
          .where(owned(customerId, id))
          .returning(MEMBER);
        // Sessions are cut off after the change, for which a sign-in at this moment waits, so that every session from
        // before ends.
        await cutOff(customerId, member.email);
        return found(changed);
      }),

    /**
     * Makes a member what an identity provider says that it is. Owners are what they are.
     * @param tell is called where it was something else, in the same transaction
     */
    takeRole: (customerId: string, email: string, role: Role, tell: () => Promise<unknown>): Promise<void> =>
      alone(customerId, async () => {
        const changed = await db.orm
          .update(workspaceMembers)
          .set({ role })
          .where(
            and(
              eq(workspaceMembers.customerId, customerId),
              eq(workspaceMembers.email, email),
              inArray(workspaceMembers.role, SAID_ROLES),
              ne(workspaceMembers.role, role),
            ),
          )
          .returning({ id: workspaceMembers.id });
        // As above: the session that follows begins after this.
        if (changed.length === 0) return;
        await tell();
        await cutOff(customerId, email);
      }),

    /**
     * Removes a member with everything that speaks for them. Keys and tokens stay revoked if the person is added again.
     * @throws Problem not_found, owner_required, last_owner
     */
    remove: (customerId: string, id: string, mayTouchOwners: boolean): Promise<void> =>
      alone(customerId, async () => {
        const member = await one(customerId, id);
        if (!mayTouchOwners && isOwner(member.role)) throw new Problem('owner_required');
        if (isOwner(member.role)) await requireAnotherOwner(customerId);
        await db.orm.delete(workspaceMembers).where(owned(customerId, id));
        await db.orm.insert(formerMembers).values({ customerId, email: member.email }).onConflictDoNothing();
        for (const revoke of revocations) await revoke(db, customerId, member.email);
        await cutOff(customerId, member.email);
      }),

    /** Adds somebody who is neither a member nor was one. */
    async recordOwner(customerId: string, email: string): Promise<void> {
      await db.rows(sql`
        insert into ${workspaceMembers} (id, customer_id, email, role, invited_by)
        select ${newUuid()}::uuid, ${customerId}, ${email}, 'owner', 'system'
        where not exists (select from ${formerMembers} where customer_id = ${customerId} and email = ${email})
        on conflict do nothing`);
    },

    /** Adds the first member of a workspace that has none. Call it in the transaction that makes the workspace. */
    async seedOwner(customerId: string, email: string): Promise<void> {
      await db.rows(sql`
        insert into ${workspaceMembers} (id, customer_id, email, role, invited_by)
        select ${newUuid()}::uuid, ${customerId}, ${email}, 'owner', 'system'
        where not exists (select from ${workspaceMembers} where customer_id = ${customerId})
        on conflict do nothing`);
    },

    /** The workspace that the person last signed in to comes first. */
    membershipsOf: (email: string): Promise<Membership[]> =>
      db.orm
        .select({
          workspaceId: workspaces.identityWorkspaceId,
          customerId: workspaces.customerId,
          role: workspaceMembers.role,
        })
        .from(workspaceMembers)
        .innerJoin(workspaces, eq(workspaces.customerId, workspaceMembers.customerId))
        .where(eq(workspaceMembers.email, email))
        .orderBy(sql`${workspaceMembers.lastLoginAt} desc nulls last`, asc(workspaces.identityWorkspaceId)),

    async isMember(email: string): Promise<boolean> {
      const row = first(
        await db.orm.select({ of: count() }).from(workspaceMembers).where(eq(workspaceMembers.email, email)),
      );
      return row.of > 0;
    },

    /** @returns the member's role at this moment; undefined where the person is no member any more */
    async noteLogin(customerId: string, email: string): Promise<Role | undefined> {
      const [member] = await db.orm
        .update(workspaceMembers)
        .set({ lastLoginAt: sql`now()` })
        .where(and(eq(workspaceMembers.customerId, customerId), eq(workspaceMembers.email, email)))
        .returning({ role: workspaceMembers.role });
      return member?.role;
    },

    /** @returns the workspace that has this id or, of another id, this slug; and what the bearer of a token is in it */
    async workspaceOfIdentity(
      workspaceId: string,
      slug: string,
      { address = null, isConfirmed, subject }: Bearer,
    ): Promise<IdentityMembership | undefined> {
      const [row] = await db.rows<IdentityMembership>(sql`
        select ${workspaces.identityWorkspaceId} as "workspaceId", ${workspaces.customerId} as "customerId", m.role,
          b.email as "boundTo", by_subject.role as "roleBySubject", exists (
            select from ${formerMembers} f where f.customer_id = ${workspaces.customerId}
              -- Who was taken in again by another address is let in by that one.
              and (f.email = ${address}::text or (f.email = b.email and m.role is null))
          ) as "wasRemoved", ${openStatus} = 'archived' as "isArchived"
        from ${workspaces}
        left join ${workspaceMembers} m on m.customer_id = ${workspaces.customerId} and ${isConfirmed}
          and m.email = ${address}::text
        left join ${memberSubjects} b on b.customer_id = ${workspaces.customerId} and b.subject = ${subject}
        left join ${workspaceMembers} by_subject on by_subject.customer_id = b.customer_id and by_subject.email = b.email
        where ${workspaces.identityWorkspaceId} = ${workspaceId} or ${workspaces.customerId} = ${slug}
        order by ${workspaces.identityWorkspaceId} = ${workspaceId} desc
        limit 1`);
      return row;
    },

    /** Notes that the identity provider knows the member with this address by this subject. */
    async bindSubject(customerId: string, subject: string, email: string): Promise<void> {
      await db.orm
        .insert(memberSubjects)
        .values({ customerId, subject, email })
        .onConflictDoUpdate({ target: [memberSubjects.customerId, memberSubjects.subject], set: { email } });
    },
  };
};
