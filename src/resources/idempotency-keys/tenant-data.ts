/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const idempotencyKeysData: TenantData = {
  idempotency_keys: {
    end: { goes: 'made again' },
    archive: { left: 'a day' },
  },
};
