/** Counts how confirmations by code end: many refusals mean that somebody guesses. */
import { Problem } from '../../platform/core/problem.ts';
import type { Meters } from '../../platform/observability/meters.ts';
import type { OtpService } from './service.ts';

export const meteredOtp = (otp: OtpService, { confirmations }: Pick<Meters, 'confirmations'>): OtpService => ({
  async gate(caller, confirmation, scope, write) {
    const shown = confirmation.code !== undefined;
    try {
      const value = await otp.gate(caller, confirmation, scope, write);
      confirmations.inc({ outcome: 'confirmed' });
      return value;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'otp_locked') confirmations.inc({ outcome: 'locked' });
      else if (error.code === 'otp_mail_limit') confirmations.inc({ outcome: 'unmailed' });
      else if (error.code === 'otp_required') confirmations.inc({ outcome: shown ? 'refused' : 'asked' });
      throw error;
    }
  },
});
