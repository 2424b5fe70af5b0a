/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const otpData: TenantData = {
  otp_challenges: {
    end: { goes: 'made again' },
    archive: { left: 'minutes' },
  },
  otp_holder_locks: {
    end: { goes: 'made again' },
    archive: { left: 'minutes' },
  },
};
