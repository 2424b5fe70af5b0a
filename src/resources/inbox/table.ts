/**
 * Holds what stands still until somebody outside says something. Triggers on the subjects of waits open, revise and
 * close rows (`sql/waits_of_*.sql`) in the statement that makes it true, so a wait can neither be missed nor outlive its
 * subject. An answer settles its row in the same statement, with a name; a trigger closes the rows that are left.
 */
import { sql } from 'drizzle-orm';
import { check, index, integer, pgEnum, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { WAYS } from '../projects/model.ts';
import { projects, subtasks } from '../projects/table.ts';
import { runs } from '../runs/table.ts';
import { WAIT_KINDS } from './model.ts';

export const waitKind = pgEnum('wait_kind', WAIT_KINDS);
export const wayOfAnswer = pgEnum('way_of_answer', WAYS);

export const waits = pgTable(
  'waits',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    customerId: text('customer_id').notNull(),
    kind: waitKind('kind').notNull(),
    /**
     * What the wait is about: the id of a subtask, a project or a page, or `<run id>/<call id>`. One subject may wait
     * again and again.
     */
    subject: text('subject').notNull(),
    projectId: text('project_id').references(() => projects.id, { onDelete: 'cascade' }),
    subtaskId: uuid('subtask_id').references(() => subtasks.id, { onDelete: 'cascade' }),
    runId: text('run_id').references(() => runs.id, { onDelete: 'cascade' }),
    callId: text('call_id'),
    /** Changes with what an answer is about, and goes on counting when the same subject waits again. */
    revision: integer('revision').notNull(),
    openedAt: instant('opened_at').notNull().defaultNow(),
    /** When an answer is due. The gate's configuration says what happens then. */
    dueAt: instant('due_at'),
    /** From this moment on the wait takes no answer, although nothing has closed it yet. */
    expiresAt: instant('expires_at'),
    /** The number of reminders; when the wait was escalated to others; when its time ran out. */
    reminders: integer('reminders').notNull().default(0),
    /** How many reminders were asked for by hand, and when the last one was. */
    remindersByHand: integer('reminders_by_hand').notNull().default(0),
    remindedAt: instant('reminded_at'),
    escalatedAt: instant('escalated_at'),
    timedOutAt: instant('timed_out_at'),
    settledAt: instant('settled_at'),
    /** Null where the wait was closed without an answer, because its subject moved on. */
    answer: text('answer'),
    settledBy: text('settled_by'),
    settledVia: wayOfAnswer('settled_via'),
    comment: text('comment'),
  },
  (t) => [
    uniqueIndex('waits_one_open_per_subject')
      .on(t.subject)
      .where(sql`${t.settledAt} is null`),
    // This index finds earlier waits of the same subject.
    index('waits_by_subject').on(t.subject, t.revision),
    // These indexes serve the inbox, oldest first, and settled waits, read backwards.
    index('waits_open')
      .on(t.customerId, t.openedAt, t.id)
      .where(sql`${t.settledAt} is null`),
    index('waits_settled')
      .on(t.customerId, t.settledAt, t.id)
      .where(sql`${t.settledAt} is not null`),
    // Housekeeping looks for waits whose time is over.
    index('waits_expiring')
      .on(t.expiresAt)
      .where(sql`${t.settledAt} is null and ${t.expiresAt} is not null`),
    // A project's open waits are needed when one of its artifacts changes, and all of them when it is deleted. The same
    // holds for a run.
    index('waits_by_project').on(t.projectId, t.settledAt),
    index('waits_by_subtask').on(t.subtaskId),
    index('waits_by_run')
      .on(t.runId)
      .where(sql`${t.runId} is not null`),
    check(
      'waits_answered_by_somebody',
      sql`${t.answer} is null or (${t.settledAt} is not null and ${t.settledBy} is not null)`,
    ),
  ],
);

/** What was said to a wait before it was settled. Votes of an earlier revision do not count. */
export const waitVotes = pgTable(
  'wait_votes',
  {
    waitId: uuid('wait_id')
      .notNull()
      .references(() => waits.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    revision: integer('revision').notNull(),
    /** An e-mail address, or `api-key:<id>`. */
    voter: text('voter').notNull(),
    /** The approver in whose place the vote counts; null where it counts for the voter. */
    seat: text('seat'),
    answer: text('answer').notNull(),
    comment: text('comment'),
    via: wayOfAnswer('via').notNull(),
    votedAt: instant('voted_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.waitId, t.revision, t.voter] })],
);

/** Says whose answers to a wait count in the place of another's, and until when. */
export const waitDelegations = pgTable(
  'wait_delegations',
  {
    waitId: uuid('wait_id')
      .notNull()
      .references(() => waits.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    /** The e-mail address of an approver, who may answer without a stand-in too. */
    delegator: text('delegator').notNull(),
    /** The e-mail address of a member, in lower case. */
    standIn: text('stand_in').notNull(),
    until: instant('until').notNull(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.waitId, t.delegator] })],
);

/** Links by which one recipient answers one wait; a wait that is settled takes no answer by any. */
export const actionLinks = pgTable(
  'action_links',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    customerId: text('customer_id').notNull(),
    waitId: uuid('wait_id')
      .notNull()
      .references(() => waits.id, { onDelete: 'cascade' }),
    /** What the recipient was told of: an answer is bound to it. */
    revision: integer('revision').notNull(),
    /** An e-mail address in lower case. A trigger withdraws the links of a member who is removed. */
    recipient: text('recipient').notNull(),
    /** SHA-256 of the token, which is kept nowhere. */
    tokenHash: text('token_hash').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
    withdrawnAt: instant('withdrawn_at'),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('action_links_by_token').on(t.tokenHash),
    index('action_links_by_wait').on(t.waitId),
    index('action_links_by_recipient')
      .on(t.customerId, t.recipient)
      .where(sql`${t.withdrawnAt} is null`),
  ],
);
