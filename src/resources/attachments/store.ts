/** Every query on attachments, and the one that finds any stored file by its id. */
import { and, asc, eq, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import { UPLOAD_TTL_MS, type ProjectStatus } from '../projects/model.ts';
import { projects } from '../projects/table.ts';
import { runArtifacts } from '../runs/table.ts';
import type { AttachmentOwner } from './model.ts';
import { attachments } from './table.ts';

export type AttachmentStore = ReturnType<typeof createAttachmentStore>;
export type Attachment = typeof attachments.$inferSelect;
export type NewAttachment = Pick<
  Attachment,
  'id' | 'filename' | 'contentType' | 'sizeBytes' | 'sha256' | 'fileKey' | 'reading'
>;

const ofOwner = (customerId: string, { kind, id }: AttachmentOwner) =>
  and(eq(attachments.customerId, customerId), eq(attachments.ownerKind, kind), eq(attachments.ownerId, id));

export interface StoredFile {
  filename: string;
  contentType: string;
  sizeBytes: number;
  fileKey: string;
}

const columnsOf = ({ filename, contentType, sizeBytes, fileKey }: typeof attachments | typeof runArtifacts) => ({
  filename,
  contentType,
  sizeBytes,
  fileKey,
});

export const createAttachmentStore = (db: Database) => ({
  async findProject(customerId: string, projectId: string): Promise<{ status: ProjectStatus } | undefined> {
    const [project] = await db.orm
      .select({ status: projects.status })
      .from(projects)
      .where(and(eq(projects.id, projectId), eq(projects.customerId, customerId)));
    return project;
  },

  /** @returns the files, the oldest first */
  list: (customerId: string, owner: AttachmentOwner): Promise<Attachment[]> =>
    db.orm.select().from(attachments).where(ofOwner(customerId, owner)).orderBy(asc(attachments.id)),

  /** @returns the keys of the files, which nothing refers to any more */
  async deleteAll(customerId: string, owner: AttachmentOwner): Promise<string[]> {
    const gone = await db.orm
      .delete(attachments)
      .where(ofOwner(customerId, owner))
      .returning({ fileKey: attachments.fileKey });
    return gone.map(({ fileKey }) => fileKey);
  },

  /** Inserts files that wait for their project. @returns true, as nothing can be gone */
  async insertUpload(customerId: string, uploadId: string, files: readonly NewAttachment[]): Promise<boolean> {
    const owned = files.map((file) => ({ ...file, customerId, ownerKind: 'upload' as const, ownerId: uploadId }));
    await db.orm.insert(attachments).values(owned);
    return true;
  },

  /** Deletes files that no project can take any more. @returns their keys */
  async deleteUntaken(customerId: string): Promise<string[]> {
    const gone = await db.orm
      .delete(attachments)
      .where(
        and(
          eq(attachments.customerId, customerId),
          eq(attachments.ownerKind, 'upload'),
          sql`${attachments.createdAt} < now() - ${UPLOAD_TTL_MS} * interval '1 ms'`,
        ),
      )
      .returning({ fileKey: attachments.fileKey });
    return gone.map(({ fileKey }) => fileKey);
  },

  /** Inserts all of them or none. @returns false when the job is gone */
  async insertOfJob(customerId: string, n: number, files: readonly NewAttachment[]): Promise<boolean> {
    const inserted = await db.rows(sql`
      with job as (select n, customer_id from scheduled_jobs where n = ${n} and customer_id = ${customerId} for share)
      insert into attachments (id, customer_id, owner_kind, owner_id, filename, content_type, size_bytes, sha256,
        file_key, reading)
      select f.id, job.customer_id, 'scheduled_job', job.n::text, f.filename, f."contentType", f."sizeBytes", f.sha256,
        f."fileKey", f.reading
      from job, jsonb_to_recordset(${JSON.stringify(files)}::jsonb) as f(id uuid, filename text,
        "contentType" text, "sizeBytes" int8, sha256 text, "fileKey" text, reading jsonb)
      returning id`);
    return inserted.length > 0;
  },

  /** Inserts all of them or none. @returns false when the thread is gone */
  async insertOfThread(customerId: string, threadId: string, files: readonly NewAttachment[]): Promise<boolean> {
    const inserted = await db.rows(sql`
      with thread as (
        select id, customer_id from chat_threads where id = ${threadId}::uuid and customer_id = ${customerId} for share)
      insert into attachments (id, customer_id, owner_kind, owner_id, filename, content_type, size_bytes, sha256,
        file_key, reading)
      select f.id, thread.customer_id, 'chat_thread', thread.id::text, f.filename, f."contentType", f."sizeBytes",
        f.sha256, f."fileKey", f.reading
      from thread, jsonb_to_recordset(${JSON.stringify(files)}::jsonb) as f(id uuid, filename text,
        "contentType" text, "sizeBytes" int8, sha256 text, "fileKey" text, reading jsonb)
      returning id`);
    return inserted.length > 0;
  },

  /**
   * @returns the owner of the files that a run may read: its project, the scheduled job that asked for it, or its
   * thread
   */
  async ownerOfRun(customerId: string, runId: string): Promise<AttachmentOwner | undefined> {
    const [row] = await db.rows<{ projectId: string | null; jobN: number | null; threadId: string | null }>(sql`
      select a.project_id as "projectId", r.job_n as "jobN", r.thread_id as "threadId" from runs r
        left join attempts a on a.id = r.attempt_id and a.customer_id = r.customer_id
      where r.id = ${runId} and r.customer_id = ${customerId}`);
    if (row?.projectId) return { kind: 'project', id: row.projectId };
    if (row?.jobN != null) return { kind: 'scheduled_job', id: String(row.jobN) };
    return row?.threadId ? { kind: 'chat_thread', id: row.threadId } : undefined;
  },

  /** Inserts all of them or none. @returns false when the project has been abandoned */
  async insertOfProject(customerId: string, projectId: string, files: readonly NewAttachment[]): Promise<boolean> {
    const inserted = await db.rows(sql`
      insert into attachments (id, customer_id, owner_kind, owner_id, filename, content_type, size_bytes, sha256,
        file_key, reading)
      select f.id, p.customer_id, 'project', p.id, f.filename, f."contentType", f."sizeBytes", f.sha256, f."fileKey",
        f.reading
      from projects p, jsonb_to_recordset(${JSON.stringify(files)}::jsonb) as f(id uuid, filename text,
        "contentType" text, "sizeBytes" int8, sha256 text, "fileKey" text, reading jsonb)
      where p.id = ${projectId} and p.customer_id = ${customerId} and p.status <> 'abandoned'
      returning id`);
    return inserted.length > 0;
  },

  async findAttachment(customerId: string, id: string): Promise<StoredFile | undefined> {
    const [attachment] = await db.orm
      .select(columnsOf(attachments))
      .from(attachments)
      .where(and(eq(attachments.id, id), eq(attachments.customerId, customerId)));
    return attachment;
  },

  /** Finds an attachment, or a file that a run saved. */
  async findFile(customerId: string, id: string): Promise<StoredFile | undefined> {
    const attachment = await this.findAttachment(customerId, id);
    if (attachment) return attachment;
    const [artifact] = await db.orm
      .select(columnsOf(runArtifacts))
      .from(runArtifacts)
      .where(and(eq(runArtifacts.id, id), eq(runArtifacts.customerId, customerId)));
    return artifact;
  },
});
