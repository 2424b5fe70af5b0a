/** What of these tables is deleted when it is old. */
import { sql } from 'drizzle-orm';
import { deletingOlder, type Retained } from '../../platform/db/retained.ts';

/** Mails of codes are counted by their rows for an hour, so they are never deleted sooner, whatever the setting. */
const uncounted = sql`and d.created_at < now() - interval '1 hour'`;

export const otpRetained: Retained = { otp: [deletingOlder('otp_challenges', 'expires_at', uncounted)] };
