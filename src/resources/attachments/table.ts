/** Reference files that people put beside a project, a scheduled job or a chat thread. The bytes are in file storage. */
import { bigint, index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt } from '../../platform/db/columns.ts';
import type { Reading } from '../../platform/documents/model.ts';
import type { AttachmentOwner } from './model.ts';
import { workspaces } from '../workspaces/table.ts';

export const attachments = pgTable(
  'attachments',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    ownerKind: text('owner_kind').$type<AttachmentOwner['kind']>().notNull(),
    ownerId: text('owner_id').notNull(),
    filename: text('filename').notNull(),
    /** The type is told by the content where that tells it; it is never one that a browser would run. */
    contentType: text('content_type').notNull(),
    sizeBytes: bigint('size_bytes', { mode: 'number' }).notNull(),
    sha256: text('sha256').notNull(),
    /** File storage keeps it under this key, which is never a caller's text. */
    fileKey: text('file_key').notNull(),
    /** What an agent will read it as. Null: nobody has looked, so that it is seen when it is read. */
    reading: jsonb('reading').$type<Reading>(),
    createdAt: createdAt(),
  },
  // It serves the list of one owner, oldest first, as ids are UUIDv7.
  (t) => [index('attachments_by_owner').on(t.customerId, t.ownerKind, t.ownerId, t.id)],
);
