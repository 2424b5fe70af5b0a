/** The people of a workspace: its members, those whom it took out, and how the identity provider knows them. */
import { index, pgEnum, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { ROLES } from '../../platform/core/rights.ts';
import { workspaces } from '../workspaces/table.ts';

export const memberRole = pgEnum('member_role', ROLES);

/** The people who may sign in to a workspace. */
export const workspaceMembers = pgTable(
  'workspace_members',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** The address in lower case. */
    email: text('email').notNull(),
    role: memberRole('role').notNull(),
    invitedBy: text('invited_by').notNull(),
    lastLoginAt: instant('last_login_at'),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('workspace_members_once').on(t.customerId, t.email),
    // Sign-in finds by it the workspaces of an address.
    index('workspace_members_by_email').on(t.email),
  ],
);

/**
 * By which subjects the identity provider knows a member, also once the member was removed. A row is written when a token
 * has both the subject and the confirmed address, so that a later token which says less is still of the same person.
 */
export const memberSubjects = pgTable(
  'member_subjects',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** As records name it (`subjectName`). */
    subject: text('subject').notNull(),
    /** The address in lower case, of a member or of a former one. */
    email: text('email').notNull(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.subject] })],
);

/** People whom a workspace took out. The identity provider may go on saying that they belong to it. */
export const formerMembers = pgTable(
  'former_members',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** The address in lower case. */
    email: text('email').notNull(),
    removedAt: instant('removed_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.email] })],
);
