/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const signInData: TenantData = {
  session_cutoffs: {
    end: { stays: 'they end what was signed in the life before' },
    archive: { left: 'sessions of this deployment' },
  },
  ended_sessions: {
    end: { stays: 'of a session, not of a workspace' },
    archive: { left: 'sessions of this deployment' },
  },
  login_challenges: {
    end: { stays: 'of an address, not of a workspace' },
    archive: { left: 'of an address, not of a workspace' },
  },
  login_locks: {
    end: { stays: 'of an address, not of a workspace' },
    archive: { left: 'of an address, not of a workspace' },
  },
};
