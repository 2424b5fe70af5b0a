/** The OTP gate as a person meets it: sends a request, reads the code that was mailed, sends it again with both. */
import type { DestinationStream } from 'pino';
import type { OtpDemand } from '../../../src/resources/otp/model.ts';
import type { Answer, Tenant } from './service.ts';

const codes = new Map<string, string>();

interface SentMail {
  to: unknown;
  subject: string;
  text: string;
}
const sent: SentMail[] = [];

/** What was mailed to anybody in this process. */
export const mails = (): readonly SentMail[] => sent;

/**
 * Where the log of a silent test service goes: mail is written to it all the same, and its codes are kept here. A test
 * with a log of its own passes its lines on to this.
 */
export const mailbox: DestinationStream = {
  write(line) {
    if (!line.includes('"event":"mail"')) return;
    const mail = JSON.parse(line) as SentMail & { challenge_id?: string; code?: string };
    sent.push(mail);
    const { challenge_id: id, code } = mail;
    if (id && code) codes.set(id, code);
  },
};

/** The code that was mailed for this challenge. */
export function codeOf(challengeId: string): string {
  const code = codes.get(challengeId);
  if (!code) throw new Error(`no code was mailed for ${challengeId}`);
  return code;
}

/** What a request shows to the gate. */
export const otpHeaders = (challengeId: string, code = codeOf(challengeId)): Record<string, string> => ({
  'x-service-otp-challenge': challengeId,
  'x-service-otp-code': code,
});

/** The challenge in an answer of the gate. */
export function demandIn({ status, body }: Answer): OtpDemand {
  if (status !== 403 || !body.detail?.otp_required) throw new Error(`no challenge: ${status} ${JSON.stringify(body)}`);
  return body.detail as OtpDemand;
}

/** Sends a request to the control plane and confirms it. An answer that is no challenge is given as it is. */
export async function confirmed(
  tenant: Pick<Tenant, 'cp'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const first = await tenant.cp(method, path, body);
  if (first.status !== 403 || !first.body.detail?.otp_required) return first;
  return tenant.cp(method, path, body, otpHeaders(demandIn(first).challenge_id));
}
