/** What search shows of these rows, for a document `p` of the index. */
import { sql } from 'drizzle-orm';
import type { Searched } from '../../platform/db/searched.ts';

export const searchedAttachment: Searched = (customerId) => sql`
  select f.id::text, f.filename, null, null, null, case f.owner_kind when 'project' then f.owner_id end,
    case f.owner_kind when 'scheduled_job' then f.owner_id::int end, case f.owner_kind when 'chat_thread' then f.owner_id end,
    array['id', 'filename'], array[f.id::text, f.filename]
  from attachments f
  where f.id = case when p.kind = 'file' then p.subject::uuid end and f.customer_id = ${customerId} and f.owner_kind <> 'upload'`;
