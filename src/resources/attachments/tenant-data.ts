/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { STORAGE_KEY, SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const attachmentsData: TenantData = {
  attachments: {
    end: { goes: 'before made again' },
    archive: {
      columns: 'id owner_kind owner_id filename content_type size_bytes sha256 reading created_at',
      without: { ...SAME_TENANT, file_key: STORAGE_KEY },
      file: { key: 'file_key', row: 'id' },
    },
    atDestruction: {
      step: 'files',
      statement: (customerId) => sql`delete from attachments where customer_id = ${customerId}`,
    },
  },
};
